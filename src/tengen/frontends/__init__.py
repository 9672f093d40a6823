"""Ways to use Tengen. Front ends translate protocols, and hold what only one of them needs.

They do not import each other; `cli` starts all of them, and combines those that work together, as
training and the page of its run.

cli               the command line: a function for each command
command_options   the options of commands as dataclasses, and the settings files that set them
typer_options     options of the command line, derived from these dataclasses
run_settings      the settings of a training run, from presets, files and options
katago_settings   KataGo's own command lines and settings files
gtp/              the Go Text Protocol
analysis/         KataGo's JSON analysis protocol
katago_reports    what these two have in common: reports on a search, handicap
protocol_stdio    stdout for a protocol, and its log file
loopback          addresses that only this machine can reach
connection_limit  how many connections a server may have open
web/              the page to play, analyse, review and learn, and to watch a training run
docs, uninstall   the documentation in the terminal; the removal of a user's files
train, distil, sweep, selfplay  training, and self-play without training
problems          problems of life and death out of games: made, and checked
network_files     `tengen net`: networks kept under names, shown, converted, checked
terminal_game, match, review, benchmark, precision_benchmark, doctor  the other commands
"""
