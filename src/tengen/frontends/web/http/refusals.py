"""Refusals of HTTP requests, as JSON in ASCII: they may quote invalid Unicode."""

from __future__ import annotations

import json
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

MOST_DETAILS = 10


class Refusal(JSONResponse):
    """JSON that can always be sent: half of a surrogate pair cannot be in UTF-8."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode("ascii")


async def refuse_invalid(_: Request, error: Exception) -> Refusal:
    """Say what is wrong with a request, without the request itself, as the framework would."""
    assert isinstance(error, RequestValidationError)
    details = [
        {"where": [str(each)[:100] for each in detail["loc"]], "what": detail["msg"][:200]}
        for detail in error.errors()[:MOST_DETAILS]
    ]
    return Refusal({"detail": details}, 422)
