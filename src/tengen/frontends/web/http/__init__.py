"""The web server: pages, downloads, access control and the WebSocket."""
