"""`tengen analysis`: KataGo's JSON analysis protocol, on stdin and stdout or over a WebSocket.

options            what `tengen analysis` is started with
server, websocket  one client on stdin and stdout, or many over a WebSocket
client             the lines of one client: actions, queries, answers
query              a checked query from JSON; query_fields reads its fields
query_positions    the positions of a query
query_settings     its settings, and what `overrideSettings` changes
answers            results in KataGo's format
error_text         error texts that alarm no client
loading            the network, loaded in the background, shared by all clients
pool, jobs         threads, and the queue of positions they search
analyse            one position, searched by itself
batch_search       many positions, searched together
"""
