"""The rules of Go: boards, rule sets, positions, scoring and game records.

- position: Position, the immutable game state that all Python code uses
- shared_history: the histories of positions, which share their entries
- board_view: what can be read off one board; the base of Position
- rules: rule sets, their names and spellings; kernel_rules: as the record that kernels read
- geometry: points, coordinates, board sizes, handicap points, symmetries
- color: colours of points and players
- illegal_moves: the exceptions for illegal moves
- scoring: the score of a board, its dead stones
- outcome: the result of a game
- diagram: boards as text and SVG
- sgf: SGF files
- kernels: the rules as Numba kernels
"""
