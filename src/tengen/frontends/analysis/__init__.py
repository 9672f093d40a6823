"""`tengen analysis`: KataGo's JSON analysis protocol, on stdin and stdout or over a WebSocket.

server, websocket  one client on stdin and stdout, or many over a WebSocket
service            the engine and the defaults that all clients share
client             the lines of one client: actions, queries, answers
query              a checked query from JSON; query_fields reads its fields
query_positions    the positions of a query
query_settings     its settings, and what `overrideSettings` changes
query_tasks        its searches in the engine
answers            results in KataGo's format
error_text         error texts that alarm no client
"""
