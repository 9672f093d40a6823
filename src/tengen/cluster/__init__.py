"""The same run on many machines: what works where, placed by Ray.

All that is true lies in the run's folder (see `tengen.runs.exchange`), so that any part may be
killed at any time. The loops of worker, learner and rater need no Ray; `actors` starts them on it.

- `manifest`: what the learner tells the others
- `outage`: what is out of reach for a while
- `worker`: plays games and writes shards
- `worker_games`: shards as they appear, for the learner; weights for the workers
- `worker_watch`: heartbeats, rates and losses of contact
- `learner`: the loop of a run, with games from workers and ratings from raters
- `rater`: plays the matches
- `mirror`: a run's folder behind a URL
- `ray_setup`: Ray without statistics or open ports
- `resources`: how many workers, and what each gets
- `actors`, `driver`: the actors, and the process that starts and watches them
"""
