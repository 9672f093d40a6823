"""Training a network from rows, with torch.

- `params`: the settings of training, the learning rate over a run, the window of rows
- `replay_buffer`: the latest rows on the device, and batches drawn from them
- `heads_and_losses`: the heads that only training uses, and the loss of each head
- `initial`: random weights, from which training starts
- `continued`: networks of earlier runs and of KataGo's that learn on
- `trainer`: steps of the optimizer, averaged weights, roll-backs
"""
