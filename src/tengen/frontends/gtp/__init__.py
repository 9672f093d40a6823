"""The GTP front end: Tengen in Sabaki, Lizzie, q5Go, GoGui, on OGS, CGOS and KGS.

Light to import: the game, the search and the network load in the background.

run                 a session on stdin and stdout
protocol            lines in, commands with typed arguments, replies out
session             the game, the clocks, the settings, the engine: what commands share
genmove             moves of the engine's own: searched, chosen, played, reported, resigned
analyze             live analysis
game_commands       board, moves, handicap, the end of the game, files
settings_commands   names, rules, parameters under KataGo's names, clocks
inspection          the position, the network and the last search as text
gogui               pictures for GoGui
positions           positions under other rules and after undo; seki, dead stones, results
"""
