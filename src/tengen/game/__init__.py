"""The rules of Go: boards, rule sets, positions, scoring and game records."""
