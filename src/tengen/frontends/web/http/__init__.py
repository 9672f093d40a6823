"""The web server.

serve.py           `tengen play`: run the server, open the browser
app.py             the application: pages, downloads, the WebSocket, static files
bounded_bodies.py  refuses requests with a body that is too long
impatient.py       HTTP that closes half-open connections, and those beyond a limit
listening.py       the sockets that servers listen at
security.py        AccessPolicy: who may connect; security headers
"""
