"""Sessions of the web page: one game each, played or looked at.

sessions.py         all sessions by id
session.py          PlaySession: saves and shows its game, has the program move and analyse
session_tasks.py    its asyncio tasks by name
client_messages.py  what clients may ask for, and what each message does
server_messages.py  what clients are told, as JSON
outbox.py           the queue of messages to one client
game_state.py       GameState: tree, node shown, phase, clock, dead stones
game_tree.py        the tree of a game over its SGF
game_clock.py       the clocks of a game
autosave.py         games on the disk
refusal.py          why a request is refused
searches.py         hints and dead stones
live_analysis.py    live analysis, and the graph of a game
reviews.py          reviews of games
"""
