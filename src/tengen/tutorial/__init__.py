"""A Go program that learns from nothing, as textbooks describe it: AlphaZero in a few pages.

`tengen train RUN --preset tutorial` runs it. Read it in this order:

1. The rules are `tengen.game.position.Position`: `play`, `legal_moves`, `is_over`, `score`.
2. What the network sees is `tengen.features.kernels.basic`: seven planes of 0 and 1.
3. network: from planes to a move's chances and the expected result; 4 blocks of 64 channels.
4. mcts: Monte Carlo tree search, which turns these first guesses into better ones.
5. recipe: every number of the method in one place.
6. self_play: games in which the search plays itself, and what there is to learn from them.
7. learning: make the network guess what the search found and who won.
8. run: play, learn, save, again and again; a run that was stopped goes on.

The plain search of `mcts` plays one game at a time, in Python. Training plays all games of an
iteration at once with Tengen's compiled search, set up by `recipe` to do the same. A network that
was trained here is an ordinary network file: GTP, the web page, matches and exports take it.
"""
