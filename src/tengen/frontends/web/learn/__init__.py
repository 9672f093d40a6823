"""Learning in the browser: lessons, capture Go, problems, and a network that is born.

routes.py          the page and its HTTP API
lessons.toml       the lessons: boards, goals, solutions
lessons.py         lessons as data, and what becomes of tries
verdicts.py        what boards ask for: right and wrong, and what refutes it, by the rules
catching.py        whether a chain can be caught or gets away
capture_go.py      capture Go: who captures first wins
problem_play.py    what becomes of tries at a problem
own_problems.py    problems out of a player's own games
born_network.py    a network that learns 5x5 from nothing, watched and played
work.py            threads for learners' requests, so that these delay no game
boards_as_json.py  boards as JSON, and the moves of a request
"""
