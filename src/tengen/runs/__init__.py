"""The folder of a training run: its files, curves and display; nothing that plays or learns."""
