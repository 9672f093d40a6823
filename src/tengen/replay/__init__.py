"""Replay: recorded games on disk, and the training rows made from them.

- `schema`: the fields of a training row, declared once
- `rows`: encode games as rows
- `kernels.encode`: the kernels that fill the fields
- `shard`: files of games
- `check`: checks of game records
- `window`: how many of the latest rows are drawn from
- `katago_rows`: rows for KataGo's own trainer
"""
