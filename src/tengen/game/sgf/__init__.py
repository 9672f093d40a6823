"""Game records in SGF."""
