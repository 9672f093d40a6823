"""Training runs: self-play, learning, rating and checkpoints in one loop, kept in a folder.

- `run`: the loop
- `params`: all settings of a run
- `folder`: what lies where, opening and locking a run
- `selfplay_network`: the network that plays, by device
- `replay_writer`: finished games into the replay buffer
- `checkpoint`, `checkpoint_writer`: the state of a run in a file; saving in the background
- `rating`: matches between a run's networks
- `progress`, `metrics`, `terminal_display`: counters, curves, and the live table
- `json_lines`, `tensorboard_events`: their file formats
- `compile_ahead`, `background_thread`: work in other processes and threads
- `errors`: errors that say what to do
"""
