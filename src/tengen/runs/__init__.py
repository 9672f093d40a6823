"""Training runs: self-play, learning, rating and checkpoints in one loop, kept in a folder.

- `run`: the loop
- `params`: all settings of a run
- `folder`: what lies where, opening and locking a run, errors that say what to do, JSON lines
- `placement`: where games are played and rated: in this process, or elsewhere
- `selfplay_network`: the network that plays, by device
- `starting`: the network that a run starts from, and its teacher
- `records`, `record_source`: game records read into the folder, and learned from
- `row_maker`: rows of games or files, by results or by a teacher
- `replay_writer`: these rows into the replay buffer
- `store`, `exchange`, `ledger`: what several machines share: files, their names, what was counted
- `checkpoint`: the state of a run in a file, saved in the background
- `pack`: what goes into files that travel, and going on from them
- `pack_file`, `packed_state`, `packed_games`: those files, and weights and games in fewer bytes
- `rating`: matches between a run's networks
- `progress`: counters, metrics, and the live table
- `observer`: what is told of a run's metrics
- `sweep`: runs with several settings and seeds, and their joint curves
- `tensorboard_events`: the file format of its curves
- `compile_ahead`, `background_thread`: work in other processes and threads
"""
