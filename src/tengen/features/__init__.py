"""What networks see of a position: three sets of inputs, each a kernel and a table of names."""
