"""Training a network from rows, with torch.

- `params`: the settings of training, the learning rate over a run, the window of rows
- `replay_buffer`: the latest rows on the device, and batches drawn from them
- `heads_and_losses`: training-only heads, and the loss of every head
- `initial_network`: random weights, from which training starts
- `continued_network`: training continued from networks of earlier runs and KataGo's
- `trainer`: steps of the optimizer, averaged weights, roll-backs
"""
