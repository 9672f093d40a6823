"""What clients may ask for: how much, how large, how many."""

from __future__ import annotations

SMALLEST_BOARD, LARGEST_BOARD = 5, 19
MOST_HANDICAP = 9
UPLOAD_BYTES = 1_000_000  # of one SGF file
MESSAGE_BYTES = 4 * UPLOAD_BYTES  # JSON may write a character as several
NODES = 20_000  # of one game's tree
LINE = 2_000  # nodes from the beginning to an end
MARKS = 50_000  # shown of one game
COMMENT_LENGTH = 20_000
LABEL_LENGTH = 4
VISITS = 100_000  # of an analysis, on one position
REVIEW_VISITS = 2_000  # on each turn of a review
REVIEW_TOTAL = 1_000_000  # on all of them together
SESSIONS = 200  # in memory at a time
WAITING_MESSAGES = 2_000  # for a client that does not read them, before it is left alone
LONGEST_CLOCK = 24 * 3600  # seconds
