"""Problems of life and death: found in games, solved, judged, graded and kept in a file.

problem.py            Problem: a position, whose stones are in question, the answers
problem_files.py      problems as lines of JSON; those that come with Tengen
region.py             Region: what of a board a fight is confined to
solver.py             RegionSolver: the fate of stones, by exhaustive search of a region
solution.py           right and wrong moves, with what refutes them, from the solver
network_judgement.py  margins of a problem by searches with networks, and its grade
questions.py          where in a position stones are in question
level_games.py        games between levels of strength, to find problems in
making.py             problems out of games: found, solved, judged and graded
workshop.py           a folder in which problems are made, part by part
checking.py           whether a problem is right, by solving it anew
shipped.jsonl         the problems that come with Tengen
kernels/              region_search, the exhaustive search
"""
