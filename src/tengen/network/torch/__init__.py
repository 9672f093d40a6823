"""Networks as torch modules, for training and GPUs.

- model: the network, its trunk and heads
- blocks: norms, pooling and the kinds of blocks
- decoding: inputs from bits, evaluations from outputs
- compiling: torch.compile where it works
"""
