"""The engine: one network and all searches with it, whoever asks for them.

- engine: Engine, the API of all front ends: submit, wait, await, stream
- task: SearchTask, a search that was asked for; KeptTree, a tree for the searches of one game
- scheduler: the thread that runs all searches and shares the network among their owners
- tree_pools: trees for searches, and their memory
- loading: EngineLoader, an engine that loads in the background
- levels: strength from beginner to full
- settings: options of an engine, for commands and settings files
- katago_params: KataGo's names of parameters
"""
