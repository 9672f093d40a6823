"""Fuzzers: random and damaged input for everything that reads something from outside.

- driver: runs a fuzzer for some seconds, saves the input that fails and says how to repeat it
- mutation: random changes of bytes and of JSON values
- gtp, analysis, sgf, web, learn, networks, rows, problems, settings: one fuzzer each
- __main__: `make fuzz`; `python -m tests.fuzz NAME --input FILE` repeats one input
- test_fuzz: two seconds of each in `make test`, an hour in `make test-long`
"""
