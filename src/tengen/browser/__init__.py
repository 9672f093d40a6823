"""What runs in a browser: plain files without a build step.

static/            served below /static by the web server
index.html       play, analyse, review
run.html         watch a training run
js/board/        the board: geometry, painter, and what is painted; used by all three pages
js/panels/       what stands around the board of index.html, a file each
js/game/         the state of index.html: connection, messages, actions, game tree
js/runs/         run.html
js/review/       the one-file review
js/lib/          DOM elements, controls, languages, theme: knows nothing about Go
css/, languages/
review.html        template of the one-file review
inline_modules.py  ES modules as one classic script, for files that open without a server
"""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
REVIEW_TEMPLATE = Path(__file__).parent / "review.html"
