"""Faults around a live run and a live server: kills, full disks, damaged files, jumping clocks.

- faulty_process: a program of ours with a clock that jumps, or on a disk that is soon full
- nursery: such processes as forks of one, which start at once
- test_live_run, test_live_server: a hundred faults each, in `make test-long`

TENGEN_KILLS sets another number, TENGEN_SEED other moments for a run.
"""
