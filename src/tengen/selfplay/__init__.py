"""Self-play: a fleet of games in lockstep, and their records."""
