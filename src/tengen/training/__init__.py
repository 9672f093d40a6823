"""Learning from rows of self-play: losses, optimizer, averaged weights."""
