"""The GTP front end: Tengen in Sabaki, Lizzie, q5Go, GoGui, on OGS, CGOS and KGS.

Light to import: the game, the search and the network load in the background.

run                 a session on stdin and stdout
protocol            lines in, commands with typed arguments, replies out
session             the game, the clocks, the engine: what commands share
genmove             moves of the engine's own: played, reported, resigned
move_search         the search for such a move: its time, what is searched, the choice
analyze             live analysis
game_commands       board, moves, handicap, the end of the game, files
settings_commands   names, rules, parameters under KataGo's names, clocks
inspection          the position, the network and the last search as text
gogui               pictures for GoGui
positions           moves of either colour, other rules on the way, seki, results
"""
