"""The page of a training run, read from the run's folder.

serve.py            serve the page while a run trains
routes.py           its HTTP API
run_state.py        settings, metrics, ratings, lists of games and networks
json_lines.py       files of JSON lines that grow
metric_series.py    metrics as columns for charts
sample_games.py     games as JSON
network_outputs.py  policy and ownership by the kept networks
"""
