"""Playing strength: matches, Elo and ratings.

- match: games between two engines by their names, with records and resuming
- lockstep: many games between two networks at a time, in shared batches
- equal_time: games in lockstep, with the visits that each player makes in equal time
- gtp_process: another program as an opponent, by GTP
- scripted_beginner: a beginner without a network, who knows captures, atari and eyes
- elo: Elo of two players and of many (Bradley-Terry), the sequential probability ratio test
"""
