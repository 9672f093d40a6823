"""Refuses requests with too long a body before it is read into memory."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tengen.frontends.web import limits


class BoundedBodies:
    """Reads the body of a request up to the limit, then lets the application have it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        content = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            content += message.get("body", b"")
            if len(content) > limits.BODY_BYTES:
                refusal = f"a request has at most {limits.BODY_BYTES:,} bytes\n"
                headers = {"Connection": "close"}
                await PlainTextResponse(refusal, 413, headers)(scope, receive, send)
                return
            if not message.get("more_body", False):
                break
        body: Message | None = {
            "type": "http.request",
            "body": bytes(content),
            "more_body": False,
        }

        async def receive_again() -> Message:
            nonlocal body
            if body is None:
                return await receive()  # the message that the client is gone
            given, body = body, None
            return given

        await self._app(scope, receive_again, send)
