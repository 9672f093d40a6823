"""The page of a training run, read from the run's folder.

serve.py            serve the page while a run trains
routes.py           the page and its HTTP API
run_state.py        settings, ratings, games and networks of the run
metrics.py          metrics, read as their file grows, as columns for charts
network_outputs.py  policy and ownership by the kept networks
"""
