"""The web server.

serve.py           `tengen play`: run the server, open the browser
app.py             the application: pages, downloads, the WebSocket, static files
bounded_bodies.py  requests are read up to a limit
one_file_at_a_time.py  files to download are made in turn
impatient.py       HTTP that closes half-open connections, and those beyond a limit
listening.py       the sockets that servers listen at
refusals.py        refusals as JSON
security.py        AccessPolicy: who may connect; security headers
"""
