"""Search: a SearchRequest goes in, a SearchResult comes out.

- request: SearchRequest: position, limits, root options, what is wanted
- params: the parameters of the search, with their reasons
- tree_batch: TreeBatch, trees that share one network: the driver of all searches
- deep_tree: a batch of one tree that fills its memory
- tree_memory: how much memory trees take
- tree_search: TreeSearch, one search on one tree: when it stops, what it reports
- result: what a search found; result_reading: reads it in a tree
- leaf_batch: leaves on their way to the network
- choice: which move to play after a search
- root_symmetry: symmetric moves at the root
- human_style: how a search follows people
- human_network: the network that imitates them
- human_choice: a move chosen as people choose
- mirror_play: is the opponent mirroring every move?
- useless_moves: moves that are not searched when one side only passes
- clock: time controls, and how long to think
- warmup: compile all kernels before a clock runs
- kernels: the algorithm: select, descend, expand, back up, reuse, read
"""
