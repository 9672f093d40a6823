"""One client: its lines in, answers out. Knows nothing of pipes and sockets.

Imports what searches only when a query wants it: a client that asks for the version is answered
while all that still loads.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import tengen
from tengen.frontends.analysis.error_text import one_safe_line

if TYPE_CHECKING:
    from tengen.engine.engine import Engine
    from tengen.engine.task import SearchTask
    from tengen.frontends.analysis.query import Query, QueryTurn
    from tengen.frontends.analysis.service import AnalysisService
    from tengen.search.result import SearchResult

LONGEST_LINE = 64 << 20  # bytes
LONGEST_ERROR = 500
NO_NETWORK = "the network cannot be used: {}"


class OutputLine(NamedTuple):
    """A line of JSON for the client; a superseded one may be dropped for a slow reader."""

    text: str
    superseded: bool = False


class _OpenSearch(NamedTuple):
    """A position of a query that waits or is searched."""

    query: Query
    turn: QueryTurn
    task: SearchTask


@dataclass(eq=False)
class AnalysisClient:
    """A client's queries and answers; `send` must be thread-safe and not block."""

    service: AnalysisService
    send: Callable[[OutputLine], None]
    _closed: bool = field(default=False, init=False)
    _open: dict[Future[SearchResult], _OpenSearch] = field(default_factory=dict, init=False)

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
        for search in list(self._open.values()):
            search.task.cancel()

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
        self.service.loader.future.add_done_callback(partial(self._tell_models, fields))

    def _tell_models(self, fields: dict[str, Any], loading: Future[Engine]) -> None:
        if (error := loading.exception()) is not None:
            self._error(NO_NETWORK.format(error), "action", fields["id"])
            return
        engine = loading.result()
        described = {
            "name": engine.network.file,
            "internalName": engine.name,
            "maxBatchSize": engine.scheduler.batch_size,
            "usesHumanSLProfile": False,
            "version": engine.network.katago_version,
            "usingFP16": "auto",
            "device": engine.device,
        }
        self._answer({**fields, "models": [described]})

    def _clear_cache(self, fields: dict[str, Any]) -> None:
        engine = self.service.loader.engine_if_ready
        if engine is not None and engine.cache is not None:
            engine.cache.clear()
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
        for query, turn, task in list(self._open.values()):
            if query_id in (None, query.id) and (turns is None or turn.number in turns):
                task.stop()
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
        self._start(query)

    def _start(self, query: Query) -> None:
        """Search all positions of a query, once the engine is there."""
        from tengen.frontends.analysis.query_tasks import task_for

        searches = [
            _OpenSearch(query, turn, task_for(query, turn, self, self._answer))
            for turn in query.turns
        ]
        for search in searches:
            self._open[search.task.future] = search
            search.task.future.add_done_callback(self._open.pop)
        if self._closed:  # meanwhile
            self.close()
        self.service.loader.future.add_done_callback(partial(self._submit, searches))

    def _submit(self, searches: list[_OpenSearch], loading: Future[Engine]) -> None:
        from tengen.frontends.analysis.answers import failed

        if (error := loading.exception()) is None:
            loading.result().submit_turns([search.task for search in searches])
            return
        for query, turn, task in searches:
            if task.future.cancel():
                self._answer(failed(query, turn, NO_NETWORK.format(error)))

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
