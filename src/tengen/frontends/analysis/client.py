"""One client: its lines in, answers out. Knows nothing of pipes and sockets.

Imports what searches only when a query wants it: a client that asks for the version is answered
while all that still loads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import tengen
from tengen.frontends.analysis.error_text import one_safe_line

if TYPE_CHECKING:
    from tengen.frontends.analysis.pool import SearchPool
    from tengen.frontends.analysis.query_settings import QuerySettings

LONGEST_LINE = 64 << 20  # bytes
LONGEST_ERROR = 500


class ModelInfo(NamedTuple):
    """What is known of the network, for `query_models`."""

    name: str  # of its file
    internal_name: str
    device: str
    largest_batch: int
    version: int  # of KataGo's format, 0 if it is not KataGo's


@dataclass(frozen=True, eq=False)
class AnalysisService:
    """What all clients share."""

    pool: SearchPool
    model: Future[ModelInfo]
    visits: int
    perspective: str
    clear_cache: Callable[[], None]
    search: Mapping[str, Any] = field(default_factory=dict)  # of SearchParams, changed

    def settings(self) -> QuerySettings:
        """The defaults of queries."""
        from tengen.frontends.analysis.query_settings import ANALYSIS_PARAMS, QuerySettings

        params = replace(ANALYSIS_PARAMS, **self.search)
        return QuerySettings(visits=self.visits, perspective=self.perspective, params=params)


class OutputLine(NamedTuple):
    """A line of JSON for the client; a superseded one may be dropped for a slow reader."""

    text: str
    superseded: bool = False


@dataclass(eq=False)
class AnalysisClient:
    """A client's queries and answers; `send` must be thread-safe and not block."""

    service: AnalysisService
    send: Callable[[OutputLine], None]
    _closed: bool = field(default=False, init=False)

    def take(self, line: bytes | str) -> None:
        """Answer a line, or start the searches that will."""
        if not line.strip():
            return
        try:
            fields = _parse(line)
        except (ValueError, RecursionError) as error:
            self._error(f"this line is no JSON that can be read: {error}")
            return
        if not isinstance(fields, dict):
            self._error("a query is a JSON object: {...}")
            return
        if not isinstance(fields.get("id"), str):
            self._error('a query needs an "id" that is text', "id", fields.get("id"))
            return
        if fields.get("action") is not None:
            self._act(fields)
        else:
            self._search(fields)

    def close(self) -> None:
        """End the searches of a client that is gone."""
        self._closed = True
        self.service.pool.drop(self)

    # Actions

    def _act(self, fields: dict[str, Any]) -> None:
        actions = {
            "query_version": self._version,
            "query_models": self._models,
            "clear_cache": self._clear_cache,
            "terminate": self._terminate,
            "terminate_all": self._terminate,
        }
        action = fields["action"]
        act = actions.get(action) if isinstance(action, str) else None
        if act is None:
            self._error(f"an action is one of {', '.join(actions)}", "action", fields["id"])
        else:
            act(fields)

    def _version(self, fields: dict[str, Any]) -> None:
        self._answer({**fields, "version": tengen.__version__, "git_hash": "<omitted>"})

    def _models(self, fields: dict[str, Any]) -> None:
        self.service.model.add_done_callback(lambda model: self._tell_models(fields, model))

    def _tell_models(self, fields: dict[str, Any], model: Future[ModelInfo]) -> None:
        if (error := model.exception()) is not None:
            self._error(f"the network cannot be used: {error}", "action", fields["id"])
            return
        known = model.result()
        described = {
            "name": known.name,
            "internalName": known.internal_name,
            "maxBatchSize": known.largest_batch,
            "usesHumanSLProfile": False,
            "version": known.version,
            "usingFP16": "auto",
            "device": known.device,
        }
        self._answer({**fields, "models": [described]})

    def _clear_cache(self, fields: dict[str, Any]) -> None:
        self.service.clear_cache()
        self._answer(fields)

    def _terminate(self, fields: dict[str, Any]) -> None:
        from tengen.frontends.analysis.query_fields import QueryError, read_wholes

        query_id = None
        if fields["action"] == "terminate":
            query_id = fields.get("terminateId")
            if not isinstance(query_id, str):
                text = "terminate needs a terminateId that is text"
                self._error(text, "terminateId", fields["id"])
                return
        try:
            turns = read_wholes(fields, "turnNumbers")
        except QueryError as error:
            self._error(str(error), error.field, fields["id"])
            return
        self.service.pool.terminate(self, query_id, None if turns is None else set(turns))
        self._answer(fields)

    # Searches

    def _search(self, fields: dict[str, Any]) -> None:
        from tengen.frontends.analysis.query import read_query
        from tengen.frontends.analysis.query_fields import QueryError

        try:
            query = read_query(fields, self.service.settings())
        except QueryError as error:
            self._error(str(error), error.field, fields["id"])
            return
        except Exception as error:  # a bug in one query must not end the session
            what = f"internal error: {type(error).__name__}: {error}"
            self._error(what, None, fields["id"])
            return
        for notice in query.notices:
            self._answer({"id": query.id, "field": notice.field, "warning": notice.text})
        self.service.pool.submit(self, query, self._answer)

    # Answers

    def _answer(self, answer: dict[str, Any]) -> None:
        if self._closed:
            return
        for kind in ("error", "warning"):
            if kind in answer:
                answer = {**answer, kind: one_safe_line(answer[kind])[:LONGEST_ERROR]}
        text = json.dumps(answer, separators=(",", ":"), allow_nan=False)
        self.send(OutputLine(text, superseded=answer.get("isDuringSearch") is True))

    def _error(self, text: str, field: str | None = None, query_id: object = None) -> None:
        answer: dict[str, Any] = {"error": text}
        if field is not None:
            answer["field"] = field
        if query_id is not None:
            answer["id"] = query_id
        self._answer(answer)


def _parse(line: bytes | str) -> Any:
    """JSON in UTF-8; raises ValueError."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"it has more than {LONGEST_LINE >> 20} MiB")
    text = line.decode("utf-8-sig") if isinstance(line, bytes) else line.removeprefix("\ufeff")
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON's")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number
