"""The inputs of networks: feature sets of planes and of values for the whole board.

- feature_set: the sets as objects, and the encoding of a `Position`
- human_profile: who plays, for networks that imitate people
- scratch: working memory of the encoders
- kernels.feature_table: the table where sets are registered, and the dispatch to their encoders
- kernels.basic, kernels.rich, kernels.katago: one family of sets each: names and encoder
- kernels.planes: writing planes as arrays of numbers or as the bits of one number per point

To add a set, write its encoder in kernels/, register it in kernels/feature_table.py, and test it.
"""
