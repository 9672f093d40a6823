"""A GTP program that always passes."""

import sys

for line in sys.stdin:
    command = line.split() or [""]
    answer = "pass" if command[0] == "genmove" else "true" if command[0] == "known_command" else ""
    print(f"= {answer}\n", flush=True)
    if command[0] == "quit":
        break
