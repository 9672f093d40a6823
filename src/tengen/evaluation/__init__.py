"""How strong: matches, ratings, and whether a difference is real."""
