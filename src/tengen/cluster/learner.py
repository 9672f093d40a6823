"""The learner: the loop of a run, with games from workers and ratings from raters."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tengen.closeable import Closeable
from tengen.cluster.games_from_workers import GamesFromWorkers
from tengen.cluster.manifest import ENDED, STOPPED, RatingTask
from tengen.cluster.outage import Outage, lock_soon, patiently
from tengen.cluster.run_copy import RunCopy, copy_of
from tengen.runs.exchange import (
    FOLDER,
    RATINGS,
    claim_session,
    clear_counted,
    read_json,
    session_of,
    sessions,
    write_json,
)
from tengen.runs.folder import (
    RunError,
    RunFolder,
    UnreachableError,
    append_line,
    forget_lines,
    is_away,
)
from tengen.runs.ledger import Ledger
from tengen.runs.params import Session
from tengen.runs.placement import OpenedRun
from tengen.runs.rating import network_file, network_name
from tengen.runs.run import Run, open_run_with
from tengen.runs.store import FolderStore, Store, is_url, open_store
from tengen.training.trainer import DivergedError
from tengen.user_messages import say

LOCK_SECONDS = 180.0  # for a learner that was replaced to notice it, or for its lock to expire
LEARNER = f"{FOLDER}/learner.json"
MOST_TASKS, MOST_GATED_TASKS = 8, 2  # networks that wait to be rated, the one at hand included


def learn_patiently(location: str, session: Session, stop: threading.Event) -> bool:
    """As `learn`, and again from the last checkpoint if the run's files were out of reach."""

    def attempt() -> bool:
        try:
            return learn(location, session, stop)
        except UnreachableError as error:
            raise OSError(str(error)) from None
        except OSError as error:
            if is_url(location) or is_away(error):
                raise
            raise RunError(f"{location}: {error}") from error

    return bool(patiently(location, attempt, stop.is_set))


def learn(location: str, session: Session, stop: threading.Event) -> bool:
    """Learn for the run at a path or URL until it ends or `stop`; returns whether it has ended.

    Raises RunError, and OSError if the run's files are out of reach.
    """
    store = open_store(location)
    folder = RunFolder(store.path) if isinstance(store, FolderStore) else copy_of(store)
    # Before locking: a learner that has not noticed its replacement yet may hold the lock.
    token = take_over(store)
    with lock_soon(folder.path, LOCK_SECONDS, stop.is_set):
        run_copy = None
        if not isinstance(store, FolderStore):
            run_copy = RunCopy(store, folder)
            run_copy.pull()
        (folder.path / FOLDER).mkdir(exist_ok=True)  # marks the run as shared
        with OnWorkers(store, token, run_copy) as placement:
            opened, config = open_run_with(folder.path, None)
            try:
                with Run(opened, config, session, placement) as run:
                    run.stop_when(stop)
                    run.go()
                    placement.outcome = ENDED if run.has_ended else STOPPED
            except DivergedError as error:
                raise RunError(f"{folder.path}: {error}") from error
            if run_copy is not None:
                _push_all(run_copy, placement.check_ours, stop)
        return placement.outcome == ENDED


def _push_all(run_copy: RunCopy, check_ours: Callable[[], None], stop: threading.Event) -> None:
    """Write all remaining changes to the URL, trying again after errors unless stopped."""

    def push() -> bool:
        run_copy.push(check_ours)
        return True

    patiently(run_copy.location, push, stop.is_set)


def take_over(store: Store) -> str:
    """Become the run's only learner; returns the token that identifies it. Raises OSError."""
    token = secrets.token_hex(8)
    write_json(store, LEARNER, {"token": token}, durable=True)
    return token


class OnWorkers(Closeable):
    """Games from workers and ratings from raters."""

    plays_here = False

    def __init__(self, store: Store, token: str, run_copy: RunCopy | None = None) -> None:
        """`token` is what `take_over` returned."""
        self._store, self._token, self._run_copy = store, token, run_copy
        self._unsaved = Outage(store.location, "what a checkpoint changed cannot be written")
        self._cleared: Ledger | None = None  # what the checkpoint before the last had counted
        self._games: GamesFromWorkers | None = None
        self.outcome = ""  # ENDED or STOPPED; a learner that failed is started again

    def open_games(self, run: OpenedRun) -> GamesFromWorkers:
        """Shards as they appear."""
        known = max([run.ledger.last_session, session_of(run.numbers_from)])
        if known and known not in sessions(self._store):  # of the folder that a pack came from
            claim_session(self._store, {"kind": "before this folder"}, known)
        self._games = GamesFromWorkers(self._store, run, self.check_ours)
        return self._games

    def open_rater(self, run: OpenedRun) -> RaterQueue:
        """Whoever looks for tasks."""
        assert self._games is not None
        push = None if self._run_copy is None else self._run_copy.push_file
        return RaterQueue(self._store, run.folder, self._games.set_tasks, push)

    def check(self) -> None:
        """Raise RunError if another learner was found to have taken over."""
        if self._games is not None:
            self._games.check()

    def check_ours(self) -> None:
        """Raise RunError if another learner has taken over: Ray believed this one dead."""
        try:
            found = read_json(self._store, LEARNER).get("token")
        except OSError:
            return  # nobody can know; what is written next fails, too
        if found != self._token:
            raise RunError(f"{self._store.location}: another learner has taken over; this one ends")

    def saving(self) -> None:
        """Raise RunError if another learner has taken over by now."""
        self.check_ours()

    def saved(self, facts: Mapping[str, Any]) -> None:
        """Clear away shards that two checkpoints have counted: the last one may be damaged."""
        with self._unsaved.reporting():  # the next checkpoint's files include these
            if self._run_copy is not None:
                self._run_copy.push(self.check_ours)  # others know no lock of this copy
            if self._cleared is not None:
                clear_counted(self._store, self._cleared)
            self._cleared = Ledger(facts["counted"])

    def close(self) -> None:
        """Tell the workers that the session is over, if it is."""
        if self._games is not None:
            self._games.close(self.outcome)


class RaterQueue:
    """Networks that are to be rated by others, in order."""

    def __init__(
        self,
        store: Store,
        folder: RunFolder,
        ask: Callable[[tuple[RatingTask, ...]], None],
        push: Callable[[Path], None] | None,
    ) -> None:
        self._store, self._folder, self._ask, self._push = store, folder, ask, push
        self._tasks: list[RatingTask] = []
        self._gone: list[int] = []  # iterations whose networks cannot be rated any more
        self._unsent = Outage(store.location, "networks cannot be sent")

    def rate(self, iteration: int, playing: str) -> None:
        """Ask for the matches of a network."""
        path = network_file(self._folder, network_name(iteration))
        if not path.is_file():
            say(f"{path} is gone; it is not rated")
            self._gone.append(iteration)
            return
        if self._push is not None:
            with self._unsent.reporting():  # the next checkpoint's files include it
                self._push(path)
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
        self._tasks.append(RatingTask(iteration, checksum, playing))
        # Raters may be slow or away. A gate cares for the newest network alone.
        while len(self._tasks) > (MOST_GATED_TASKS if playing else MOST_TASKS):
            left_out = self._tasks.pop(1 if playing else 0)
            say(f"{network_name(left_out.iteration)} is not rated: raters are behind")
            self._gone.append(left_out.iteration)
        self._ask(tuple(self._tasks))

    def rated(self) -> list[int]:
        """Record the matches that were played, and return their iterations."""
        done, self._gone = self._gone, []
        for task in list(self._tasks):
            try:
                found = read_json(self._store, f"{RATINGS}/{network_name(task.iteration)}.json")
            except OSError:
                continue  # and look again later
            if found.get("checksum") != task.checksum:
                continue
            _forget(self._folder, task.iteration)
            for match in found["matches"]:
                append_line(self._folder.ratings, match)
            if failure := found.get("failure"):
                say(f"{network_name(task.iteration)} is not rated: {failure}")
            self._tasks.remove(task)
            done.append(task.iteration)
        if done:
            self._ask(tuple(self._tasks))
        return done


def _forget(folder: RunFolder, iteration: int) -> None:
    """Drop the matches of an iteration's network."""
    forget_lines(folder.ratings, lambda line: line.get("iteration") == iteration)
