"""Playing, analysing and reviewing in the browser: one session for each player."""
