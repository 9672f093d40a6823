"""Networks as torch modules, for training and GPUs."""
