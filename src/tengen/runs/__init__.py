"""Training runs: self-play, learning, rating and checkpoints in one loop, kept in a folder.

- `run`: the loop
- `params`: all settings of a run
- `folder`: its paths, opening and locking a run, errors that say what to do, JSON lines
- `placement`: where games are played and rated: in this process, or elsewhere
- `selfplay_network`: the network that plays, by device
- `starting_network`: the network that a run starts from, and its teacher
- `records`, `record_source`: game records read into the folder; learning from them
- `row_maker`: games or files as rows, with targets from results or a teacher
- `replay_writer`: adds these rows to the replay buffer
- `store`, `exchange`, `ledger`: files that machines share, their names, which shards were counted
- `checkpoint`: the state of a run in a file, saved in the background
- `pack`: a run in a few files to copy elsewhere, and going on from them
- `pack_file`, `packed_state`, `packed_games`: those files, and weights and games in fewer bytes
- `rating`: matches between a run's networks
- `progress`: counters, metrics, and the live table
- `observer`: functions of the user's that receive a run's metrics
- `sweep`: runs with several settings and seeds, and their joint curves
- `tensorboard_events`: the file format of its curves
- `compile_ahead`, `background_thread`: work in other processes and threads
"""
