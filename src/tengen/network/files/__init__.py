"""Network files: our own format, KataGo's, and the bundled network."""
