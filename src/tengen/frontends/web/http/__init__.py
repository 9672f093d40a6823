"""The web server.

serve.py        `tengen play`: run the server, open the browser
app.py          the application: pages, downloads, the WebSocket, static files
connection.py   one WebSocket connection
security.py     AccessPolicy: who may connect; security headers
server_info.py  what clients are told about the server
"""
