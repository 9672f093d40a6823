"""The engine: a network for every game, and all searches with it.

- engine: Engine, the API of all front ends: submit, wait, await, stream
- search_many: searches of many positions, results in order
- networks: the network that was given, or the bundled ones, chosen by the game
- task: SearchTask, a request with its future result; KeptTree, a tree for the searches of one game
- scheduler: the thread that runs all searches and shares the network among their owners
- tree_pools: trees for searches, and their memory
- loading: EngineLoader, an engine that loads in the background
- search_rate: how fast an engine searches
- behaviour_signature: a signature of rules and search, by which any change of behaviour is seen
- levels: strength from newcomer to full
- level_ranks: the approximate rank of a level, where it was measured
- settings: options of an engine, for commands and settings files
- katago_params: KataGo's names of parameters
"""
