"""Reviews of games: every move judged by searches.

turns.py      the moves of a game's main line
review.py     what each move lost against the best move found
annotated.py  the review as SGF
html_page.py  the review as one HTML file
wording.py    verdicts in words
"""
