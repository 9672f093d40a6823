"""`tengen analysis`: KataGo's JSON analysis protocol, on stdin and stdout or over a WebSocket.

server, websocket  one client on stdin and stdout, or many over a WebSocket; what all share
client_session  the lines of one client: actions, queries, answers
backlog         bounds on what waits: positions to be searched, answers to be read
query           a checked query from JSON: its settings, and the searches that it asks for
query_fields    its fields by their kinds
query_game      its game: board, rules, stones, moves
answers         results in KataGo's format
"""
