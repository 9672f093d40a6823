"""Self-play: a fleet of games in lockstep, and their records.

- `params`: the settings of self-play and of its search
- `fleet`: thousands of games, stepped half by half while the network evaluates the other halves
- `game_arrays`: the arrays of a fleet that kernels work on
- `record`: the records of games, turns and targets
- `sgf_text`: a recorded game as SGF
- `kernels`: how games begin, one step of all games, and what is recorded
"""
