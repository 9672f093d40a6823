"""Looking ahead: how moves are searched for, and how long."""
