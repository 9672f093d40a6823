"""The rules of Go as Numba kernels over NumPy records.

- board: the board record; placing stones, chains, liberties, captures
- moves: legality, a game's history, repetition, the end of a game
- clean_up_phases: the phases of territory scoring after two passes, and their kos
- life: pass-alive stones (Benson's algorithm); eyes
- scoring: area, seki and the score
- ladder: ladder reading with KataGo's answers
- ladder_memory: ladders that were read, and the points on which each depends
- point_sets: bit sets of points
"""
