"""Reviews of games: every move judged by searches.

review.py         the moves of a game, and what each lost against the best move found
annotated_sgf.py  the review as SGF
html_page.py      the review as one HTML file
rows.py           reviews as flat rows, for data frames
wording.py        verdicts in words
"""
