"""Tengen in the browser: games, analyses and reviews, and the page of a training run.

The pages themselves are in `tengen.browser`; here is the server.

    http/          the server: routes, access, static files
    play/          sessions: games, and what the program does in them
    runs/          the page of a training run
    log_lines.py   lines about what went wrong: few, however often it does
    limits.py      limits on what clients may ask for, and the error that refuses it
"""
