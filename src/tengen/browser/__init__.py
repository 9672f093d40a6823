"""What runs in a browser: plain files without a build step.

static/            served below /static by the web server
index.html       play, analyse, review
learn.html       lessons, problems, capture Go, a network that learns from nothing
run.html         watch a training run
away.html        shown while the server does not answer
js/board/        the board: geometry, painter, and what is painted; used by all pages with boards
js/page/         the parts of index.html that every game has: header, navigation, dialogs, notices
js/panels/       its panels beside the board, a file each
js/moments/      its puzzles from a player's own costly moves
js/game/         its state: connection, messages, actions, game tree
js/learn/        learn.html
js/terms/        the glossary of Go words
js/runs/         run.html
js/review/       the one-file review
js/lib/          DOM elements, controls, languages, theme: knows nothing about Go
css/, languages/
review.html        template of the one-file review
script_bundle.py   ES modules as one classic script, for files that open without a server
"""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
REVIEW_TEMPLATE = Path(__file__).parent / "review.html"
