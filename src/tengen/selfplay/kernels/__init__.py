"""Kernels of self-play.

- `step`: one step of all games: expand, play on, select a leaf
- `new_game`: how a game begins: board, komi, handicap, opening moves
- `turn`: how a turn is searched, and the move that its search chooses
- `record`: write down turns, targets and finished games
- `prefetch`: prefetch the memory of games that are stepped soon
"""
