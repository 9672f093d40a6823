"""Sessions of the web page: one game each, played or looked at.

connection.py          one WebSocket: the client's messages in, the queue of messages to it out
client_messages.py     messages of clients, checked
session.py             PlaySession: its game, saved and shown
session_clock.py       the clock of its game, and the fall of a flag
requests/              what clients may ask a session for
program.py             what the program does in a game: moves, counts, hints, judgements
session_tasks.py       the asyncio tasks of a session
session_saving.py      when the game of a session is saved
sessions.py            all sessions by id
server_messages.py     what clients are told, as JSON
game_state.py          GameState: tree, node shown, phase, clock, dead stones
game_tree.py           the tree of a game over its SGF
liberties.py           liberties of groups, and those in atari
game_clock.py          the clocks of a game
game_store.py          games on the disk, within a number of bytes
disk_worker.py         does what touches the disk, in a thread or at once
game_snapshot.py       games as files, and back
session_kept_games.py  a player's games: listed, opened, renamed, deleted, rated
even_games.py          a player's strength, and terms that give even chances
networks.py            the networks that the server's owner offers
analysis.py            hints, dead stones, live analysis, and the graph of a game
reviews.py             reviews of games
your_moments.py        costly turns that come back as puzzles
moments.py             when they come back
"""
