"""Replay: recorded games on disk, and the training rows made from them.

- `rows`: the fields of a training row, declared once, and games encoded as rows
- `kernels.encode`: the kernels that fill the fields
- `shard`: files of games
- `katago_rows`: rows for KataGo's own trainer
- `katago_files`: such rows, read
- `sgf_games`: game records as games to learn from
- `opinions`: what a teacher says of rows, and files of it
- `kernels.boards`: the kernels that replay boards for it
- `network_estimates`, `lead`: what a network says of recorded turns, and the komi that makes them
  even
"""
