"""The same run on many machines: its parts, placed by Ray.

The run's folder is the only source of truth (see `tengen.runs.exchange`), so that any part may be
killed at any time. The loops of worker, learner and rater need no Ray; `ray_actors` starts them
on it.

- `manifest`: what the learner tells the others
- `outage`: storage that cannot be reached for a while: messages and new attempts
- `worker`: plays games and writes shards
- `games_from_workers`: shards as they appear, for the learner; weights for the workers
- `worker_watch`: heartbeats, rates and losses of contact
- `learner`: the loop of a run, with games from workers and ratings from raters
- `rater`: plays the matches
- `run_copy`: a run's folder behind a URL
- `ray_setup`: Ray without statistics or open ports
- `resources`: how many workers, and what each gets
- `ray_actors`, `driver`: the actors, and the process that starts and watches them
"""
