"""Game records in SGF.

- records: SgfGame; reading, loading, saving and making records
- syntax: the syntax: nodes and properties, a tolerant parser and a writer
- encoding: finding the character encoding of a file
"""
