"""Reviews of games: every turn judged, and told as SGF, as a page, and in words."""
