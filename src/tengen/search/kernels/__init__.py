"""Kernels that grow, reuse and read search trees.

- forest: the pools of nodes, edges and candidates of many trees
- select: which child a descent follows (PUCT); gumbel: the Gumbel root
- descend: from the root to a leaf, and its encoding
- human: exploration by the policy of people
- mirror: the search against an opponent who mirrors every move
- expand: evaluations into leaves; backup: and from there to the root
- root: the root's priors, noise, and the choice of the move
- root_endings: what root moves and passes are worth at the end of a game
- reuse: what is kept of a tree after a move, or when memory is full
- read_tree: results out of trees
- parallel: many trees by many threads; descent_scratch: what a thread works with
- local_pattern: keys of moves with their surroundings, for the bias table
- utility, random_numbers
"""
