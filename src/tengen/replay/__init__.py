"""Replay: recorded games on disk, and the training rows made from them.

- `rows`: the fields of a training row, declared once, and games encoded as rows
- `kernels.encode`: the kernels that fill the fields
- `shard`: files of games
- `katago_rows_writer`: rows for KataGo's own trainer
- `katago_rows_reader`: rows read from KataGo's training files
- `sgf_games`: game records as games to learn from
- `teacher_outputs`: evaluations of rows by a teacher, as targets and in files
- `kernels.boards`: the kernels that replay its games
- `network_estimates`, `lead`: a network's estimates of recorded turns, and the komi that makes
  them even
"""
