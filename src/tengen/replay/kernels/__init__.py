"""Kernels of replay: `encode` fills training rows, `boards` replays boards for KataGo's rows."""
