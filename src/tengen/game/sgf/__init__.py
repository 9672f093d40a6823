"""Game records in SGF.

- records: SgfGame; reading, loading, saving and making records
- files: the records of files and folders
- syntax: the syntax: nodes and properties, a tolerant parser and a writer
- encoding: finding the character encoding of a file
"""
