"""Playing strength: matches, Elo and ratings.

- match: games between two engines, with openings, records and resuming
- lockstep: many games between two networks at a time, in shared batches
- engine_spec: engines as the command line names them
- gtp_process: another program as an opponent, by GTP
- elo: the Elo difference of two players, with its interval
- ratings: the ratings of many players from all their games (Bradley-Terry)
- sprt: the sequential probability ratio test
"""
