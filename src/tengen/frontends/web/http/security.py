"""Who may connect: this machine, or whoever has the token; never pages of other sites."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from tengen.frontends.loopback import is_loopback

COOKIE = "tengen_token"
# Only our own scripts and styles: none from elsewhere, none inline.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class AccessPolicy:
    """The token that requests must carry; None: they must come from this machine."""

    token: str | None = None

    def why_refused(self, visitor: HTTPConnection) -> str | None:
        """Why a request or a WebSocket is refused; None if it is allowed.

        A page of another site can reach us directly, which its Origin header shows, or through a
        host name of its own that resolves to this machine (DNS rebinding), which Host shows.
        """
        served = visitor.headers.get("host", "")
        if self.token is None and not is_loopback(_hostname(f"//{served}")):
            return "this server only serves its own machine: open 127.0.0.1 or localhost"
        origin = visitor.headers.get("origin")
        if origin is not None and not _same_place(origin, served):
            return "requests from pages of other sites are refused"
        if self.token is not None and not self.knows_token(visitor):
            return "the token is missing or wrong: open the address that the server printed"
        return None

    def knows_token(self, visitor: HTTPConnection) -> bool:
        """Does a request carry the token, in its address or as a cookie?"""
        given = visitor.query_params.get("token") or visitor.cookies.get(COOKIE, "")
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())


def access_policy(host: str, token: str | None) -> AccessPolicy:
    """A policy with a token wherever other machines can reach the server; raises ValueError."""
    if token is not None and not token.strip():
        raise ValueError("the token is empty: choose one that is hard to guess")
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(16)
    return AccessPolicy(token)


class AccessMiddleware:
    """Refuses requests that the access policy does not allow; adds security headers to answers."""

    def __init__(self, app: ASGIApp, access: AccessPolicy) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        visitor = HTTPConnection(scope)
        refusal = self._access.why_refused(visitor)
        if scope["type"] == "http":
            send = self._with_headers(send, self._access.knows_token(visitor))
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(1008, refusal)
        else:
            await PlainTextResponse(f"{refusal}\n", 403)(scope, receive, send)

    def _with_headers(self, send: Send, knows_token: bool) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if knows_token:
                    cookie = f"{COOKIE}={self._access.token}; Path=/; HttpOnly; SameSite=Strict"
                    headers.append("set-cookie", cookie)
            await send(message)

        return send_with_headers


def _same_place(origin: str, served: str) -> bool:
    """Is the origin of a page this server? All loopback names count as the same host."""
    try:
        ours, theirs = urlsplit(f"//{served}"), urlsplit(origin)
        same_port = (ours.port or 80) == (theirs.port or (443 if theirs.scheme == "https" else 80))
    except ValueError:
        return False
    if theirs.scheme not in ("http", "https"):
        return False
    if is_loopback(ours.hostname) and is_loopback(theirs.hostname):
        return same_port
    return ours.hostname is not None and ours.netloc.lower() == theirs.netloc.lower()


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
