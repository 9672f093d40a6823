"""The GTP front end: Tengen in Sabaki, Lizzie, q5Go, GoGui, on OGS, CGOS and KGS.

Light to import: the game, the search and the network load in the background.

run                 a session on stdin and stdout
protocol            lines in, replies out; knows no Go
dispatch            handlers as typed methods
session             the game, the clocks, the engine: what commands share
settings            what clients can change, by KataGo's names
thinking            a move of the engine's own: limits, time, resignation
position_edits      moves of either colour, other rules on the way
game_end            seki, dead stones to capture, results
analyze             options and lines of live analysis
search_text         searches as text for people
raw_network         the network's outputs as text
showboard           the board as text
gogui_drawing       live graphics of GoGui
*_commands          the commands, by subject
"""
