"""Reviews of games: every move judged by searches.

review.py         the moves of a game, and what each lost against the best move found
reasons.py        why one move is better than another, by what becomes of stones and points
annotated_sgf.py  the review as SGF
html_page.py      the review as one HTML file
rows.py           reviews as flat rows, for data frames
wording.py        verdicts in words
"""
