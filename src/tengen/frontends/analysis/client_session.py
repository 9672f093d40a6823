"""One client: its lines in, answers out. Knows nothing of pipes and sockets.

The modules for searching are imported by the first query that needs them, so that a client which
asks for the version is answered at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tengen.engine.katago_params import SPOKEN_VERSION
from tengen.frontends.analysis.backlog import MOST_ANSWERS, POSITION_BYTES, Backlog
from tengen.frontends.analysis.query_fields import Fields, QueryError, read_wholes
from tengen.frontends.katago_reports import described_networks
from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.engine.engine import Engine
    from tengen.engine.task import SearchTask
    from tengen.frontends.analysis.query import Query, QueryTurn
    from tengen.frontends.analysis.server import AnalysisService
    from tengen.network.trained_on import Unfamiliar
    from tengen.search.result import SearchResult

LONGEST_LINE = 8 << 20  # bytes; JSON takes up to thirty times as much once it is read
LONGEST_ERROR = 500
DEEPEST = 50  # lists and objects within each other; no field of a query needs more than four
_HARMLESS = {"Uncaught exception": "uncaught exception", "what()": "what ()"}
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
    """A client's queries and answers; `send` must be thread-safe and not block.

    The sender counts answers that the client has not read yet in `unread`.
    """

    service: AnalysisService
    send: Callable[[OutputLine], None]
    unread: Backlog = field(default_factory=lambda: Backlog(MOST_ANSWERS))
    _closed: bool = field(default=False, init=False)
    _open: dict[Future[SearchResult], _OpenSearch] = field(default_factory=dict, init=False)
    # Boards and rules unknown to networks that the client was warned of.
    _warned: set[Unfamiliar] = field(default_factory=set, init=False)

    def take(self, line: bytes | str) -> None:
        """Answer a line, or start the searches that will."""
        if not line.strip():
            return
        fields: Any = None
        try:
            fields = _parse(line)
            if _is_deep(fields):
                # An answer could not repeat such fields: JSON can be read deeper than written.
                fields = {"id": query_id} if isinstance(query_id := fields.get("id"), str) else None
                raise QueryError(None, f"lists and objects are nested more than {DEEPEST} deep")
            if not isinstance(fields.get("id"), str):
                raise QueryError("id", 'a query needs an "id" that is text')
            if fields.get("action") is not None:
                self._act(fields)
            else:
                self._search(fields)
        except QueryError as error:
            self._error(fields, str(error), error.field)
        except Exception as error:  # a bug in one query must not end the session
            self._error(fields, f"internal error: {type(error).__name__}: {error}")

    def close(self) -> None:
        """End the searches of a client that is gone."""
        self._closed = True
        for search in list(self._open.values()):
            search.task.cancel()

    # Actions

    def _act(self, fields: Fields) -> None:
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
            raise QueryError("action", f"an action is one of {', '.join(actions)}")
        act(fields)

    def _version(self, fields: Fields) -> None:
        self._answer({**fields, "version": SPOKEN_VERSION, "git_hash": "<omitted>"})

    def _models(self, fields: Fields) -> None:
        self.service.loader.future.add_done_callback(partial(self._tell_models, fields))

    def _tell_models(self, fields: Fields, loading: Future[Engine]) -> None:
        if (error := loading.exception()) is not None:
            self._error(fields, NO_NETWORK.format(error), "action")
            return
        engine = loading.result()
        models = [
            {**described, "device": network.evaluator.device}
            for described, network in zip(described_networks(engine), engine.networks, strict=True)
        ]
        self._answer({**fields, "models": models})

    def _clear_cache(self, fields: Fields) -> None:
        engine = self.service.loader.engine_if_ready
        if engine is not None:
            engine.free_memory()
        self._answer({**fields})

    def _terminate(self, fields: Fields) -> None:
        query_id = None
        if fields["action"] == "terminate":
            query_id = fields.get("terminateId")
            if not isinstance(query_id, str):
                raise QueryError("terminateId", "terminate needs a terminateId that is text")
        turns = read_wholes(fields, "turnNumbers")
        for query, turn, task in list(self._open.values()):
            if query_id in (None, query.id) and (turns is None or turn.number in turns):
                task.stop()
        self._answer({**fields})

    # Searches

    def _search(self, fields: Fields) -> None:
        from tengen.engine.task import SearchTask
        from tengen.frontends.analysis.query import read_query

        if self.unread.is_full:
            text = f"answers of {self.unread.most >> 20} MiB wait: read them before you ask again"
            raise QueryError(None, text)
        query = read_query(fields, self.service.settings())
        share = self._hold(query)
        for notice in query.notices:
            self._answer({"id": query.id, "field": notice.field, "warning": notice.text})
        searches = []
        for turn in query.turns:
            progress = partial(self._tell_progress, query, turn)
            task = SearchTask(query.request(turn), self, progress)
            searches.append(_OpenSearch(query, turn, task))
            self._open[task.future] = searches[-1]
            task.future.add_done_callback(partial(self._tell_result, query, turn))
            task.future.add_done_callback(self._open.pop)
            task.future.add_done_callback(lambda _: self.service.positions.release(share))
        if self._closed:  # meanwhile
            self.close()
        self.service.loader.future.add_done_callback(partial(self._submit, searches))

    def _hold(self, query: Query) -> int:
        """Count the positions of a query as waiting; returns the bytes of each of its turns.

        Raises QueryError if too many wait already.
        """
        if not query.turns:
            return 0
        waiting, turns = self.service.positions, len(query.turns)
        share = POSITION_BYTES * -(-(query.turns[-1].number + turns) // turns)
        if not waiting.try_hold(share * turns):
            raise QueryError(
                "moves",
                f"games of {waiting.most >> 20} MiB wait to be analysed: ask again when some of "
                "the answers are there",
            )
        return share

    def _submit(self, searches: list[_OpenSearch], loading: Future[Engine]) -> None:
        """Search positions now that the engine is there."""
        if (error := loading.exception()) is None:
            engine = loading.result()
            self._warn(engine, searches)
            engine.submit_turns([search.task for search in searches])
            return
        for query, turn, task in searches:
            if task.future.cancel():
                self._tell_failure(query, turn, NO_NETWORK.format(error))

    def _warn(self, engine: Engine, searches: list[_OpenSearch]) -> None:
        """Tell the client once what a network was not trained on of a game."""
        for query, turn, _ in searches[:1]:
            found = engine.unfamiliar(turn.position)
            if found is not None and found not in self._warned:
                self._warned.add(found)
                field = "rules" if found.board is None else "boardXSize"
                self._answer({"id": query.id, "field": field, "warning": str(found)})

    def _tell_progress(self, query: Query, turn: QueryTurn, result: SearchResult) -> None:
        from tengen.frontends.analysis.answers import found

        if result.visits:
            self._answer(found(query, turn, result, during=True))

    def _tell_result(self, query: Query, turn: QueryTurn, future: Future[SearchResult]) -> None:
        from tengen.frontends.analysis.answers import found

        if future.cancelled():
            return
        try:
            self._answer(found(query, turn, future.result()))
        except Exception as error:
            text = one_safe_line(f"the search failed: {type(error).__name__}: {error}")
            say(text)
            self._tell_failure(query, turn, text)

    def _tell_failure(self, query: Query, turn: QueryTurn, text: str) -> None:
        self._answer({"id": query.id, "turnNumber": turn.number, "error": text})

    # Answers

    def _answer(self, answer: dict[str, Any]) -> None:
        if self._closed:
            return
        for kind in ("error", "warning"):
            if kind in answer:
                answer = {**answer, kind: one_safe_line(answer[kind])[:LONGEST_ERROR]}
        text = json.dumps(answer, separators=(",", ":"), allow_nan=False)
        self.send(OutputLine(text, superseded=answer.get("isDuringSearch") is True))

    def _error(self, fields: Fields | None, text: str, field: str | None = None) -> None:
        answer = {"error": text, "field": field, "id": fields and fields.get("id")}
        self._answer({name: value for name, value in answer.items() if value is not None})


def _parse(line: bytes | str) -> Fields:
    """A JSON object in UTF-8; raises QueryError."""
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError(f"it has more than {LONGEST_LINE >> 20} MiB")
        text = line.decode("utf-8-sig") if isinstance(line, bytes) else line.removeprefix("\ufeff")
        fields = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise QueryError(None, f"this line is no JSON that can be read: {error}") from None
    if not isinstance(fields, dict):
        raise QueryError(None, "a query is a JSON object: {...}")
    return fields


def _is_deep(fields: Fields) -> bool:
    """Whether lists and objects are nested more than `DEEPEST` deep."""
    layer: list[Any] = [fields]
    for _ in range(DEEPEST):
        inside = (each.values() if isinstance(each, dict) else each for each in layer)
        layer = [value for values in inside for value in values if isinstance(value, dict | list)]
        if not layer:
            return False
    return True


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON's")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


def one_safe_line(text: str) -> str:
    """The text on one line, without phrases that clients take for a crash of the engine."""
    text = " ".join(text.split())
    for alarm, harmless in _HARMLESS.items():
        text = text.replace(alarm, harmless)
    return text
