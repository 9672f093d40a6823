"""Tengen in the browser: a server of games, analyses and reviews for one person or a few."""
