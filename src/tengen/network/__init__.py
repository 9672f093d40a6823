"""Networks: what they are, how they are stored, and how they are run.

- architecture: what a network is made of; architecture_names: what b6c96 stands for
- weights: the names and shapes of all weights; parameters and FLOPs
- network_data: a network as architecture, weights and provenance
- own_trunks: user-supplied torch modules in place of blocks
- trained_on: the boards and rules that a network was trained on
- learned_from: what a network learned from: nothing, records, a teacher
- evaluator: the interface between search and networks, and the encoding of positions
- decoding: evaluations from a network's raw outputs
- loaded_network: a network file opened on a device, for front ends
- cache: an evaluator that caches the evaluations of another one
- inference_buffers: fixed buffers between self-play and a network
- fix_rules: fix the rules that a network assumes
- best_precision: the precision that plays best in equal time, as measured on this machine
- comparison: how far two evaluators of a network are apart
- fake: an evaluator without a network, for tests
- backends: ways to run networks, and the registry that chooses
- files: network files of Tengen's and KataGo's
- torch: networks as torch modules, for training and GPUs
"""
