"""Ways to use Tengen. Front ends translate protocols; each stands on no other front end.

cli                the command line: a function for each command
command_options    options of commands, derived from dataclasses
options, gtp_options, analysis_options    those dataclasses
settings_file      TOML files that fill the same dataclasses
gtp/               the Go Text Protocol
analysis/          KataGo's JSON analysis protocol
katago_reports     what these two report in common
handicap           handicap stones laid out as moves, for the same two
web/               the page to play, analyse and review, and to watch a training run
terminal, match, review, benchmark, doctor, net, train, selfplay    the other commands
log, loopback, protocol_stdout    log files, local addresses, stdout for a protocol
"""
