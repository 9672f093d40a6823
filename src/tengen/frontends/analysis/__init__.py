"""`tengen analysis`: KataGo's JSON analysis protocol, on stdin and stdout or over a WebSocket."""
