"""Tengen in the browser: games, analyses, reviews, learning, and the page of a training run.

The pages themselves are in `tengen.browser`; here is the server.

    http/          the server: routes, access, static files
    play/          sessions: games, and what the program does in them
    learn/         lessons, capture Go, problems, and a network trained before the learner's eyes
    runs/          the page of a training run
    log_lines.py   log lines about errors, limited in number
    limits.py      limits on what clients may ask for, and the error that refuses it
"""
