"""The web server.

serve.py        `tengen play`: run the server, open the browser
app.py          the application: pages, downloads, the WebSocket, static files
play_connection.py  one WebSocket of the page to play
security.py     AccessPolicy: who may connect; security headers
server_info.py  what clients are told about the server
"""
