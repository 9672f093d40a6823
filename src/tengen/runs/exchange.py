"""What the machines of a run exchange: files under `cluster/` in the run's folder.

    sessions/000007.json            who has the session, and how it is going (its heartbeat)
    incoming/000007-000012.games    the 12th shard of session 7, until a checkpoint has counted it
    rejected/                       shards that were refused
    weights/00000031.safetensors    networks that play, by version
    manifest.json                   of the learner: the version that plays, what it has counted
    ratings/000040.json             matches of an iteration's network

A session is one start of a worker, and its number is never used again: it makes the numbers of
games unique in the run, and with them their random numbers.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tengen.replay.shard import SUFFIX, ShardError, parse_shard
from tengen.runs.folder import RunFolder
from tengen.runs.ledger import Ledger
from tengen.runs.store import Store
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games
from tengen.user_messages import say

FOLDER = "cluster"
MANIFEST = f"{FOLDER}/manifest.json"
INCOMING, REJECTED = f"{FOLDER}/incoming", f"{FOLDER}/rejected"
SESSIONS, WEIGHTS, RATINGS = f"{FOLDER}/sessions", f"{FOLDER}/weights", f"{FOLDER}/ratings"

# Of a game's number, the lower bits count the games of its session. Browsers know whole numbers up
# to 2 ** 53, which leaves room for two million sessions.
GAME_BITS = 32
MOST_SESSIONS = 2 ** (53 - GAME_BITS)

SETTLING_SECONDS = 0.5
_SHARD = re.compile(rf"(\d+)-(\d+)\{SUFFIX}")
_SESSION = re.compile(r"(\d+)\.json")


class WorkerShard(NamedTuple):
    """The name of a shard: its session and its number there."""

    session: int
    number: int

    @property
    def file(self) -> str:
        """Its name in a folder."""
        return f"{self.session:06}-{self.number:06}{SUFFIX}"


class BrokenShardError(Exception):
    """A shard whose games must not be learned from; the message says why."""


def was_shared(folder: RunFolder) -> bool:
    """Whether a run was ever on several machines."""
    return (folder.path / FOLDER).is_dir()


# Sessions


def claim_session(store: Store, facts: Mapping[str, Any], at_least: int = 1) -> int:
    """Take the next number of a session; safe if several processes do so at the same time."""
    number = max([at_least, *(known + 1 for known in sessions(store))])
    token = secrets.token_hex(8)
    while number < MOST_SESSIONS:
        try:
            store.create(session_file(number), _json({**facts, "token": token}))
            if not store.exclusive:  # the last of those who create it at the same time has it
                time.sleep(SETTLING_SECONDS)
            if read_json(store, session_file(number)).get("token") == token:
                return number
        except FileExistsError:
            pass
        number += 1
    raise RuntimeError(f"{store.location}: has had {MOST_SESSIONS:,} sessions; begin a new run")


def sessions(store: Store) -> list[int]:
    """The numbers of all sessions so far."""
    names = map(_SESSION.fullmatch, store.names(SESSIONS))
    return [int(name[1]) for name in names if name]


def session_file(number: int) -> str:
    """Where a session's heartbeat is."""
    return f"{SESSIONS}/{number:06}.json"


def first_game(session: int) -> int:
    """The number of a session's first game."""
    return session << GAME_BITS


def session_of(number: int) -> int:
    """The session that a game's number belongs to; 0: a run that was never on several machines."""
    return number >> GAME_BITS


# Shards of workers


def incoming_shards(store: Store) -> list[WorkerShard]:
    """The shards that wait or are not cleared away yet, session by session in order."""
    names = map(_SHARD.fullmatch, store.names(INCOMING))
    return sorted(WorkerShard(int(name[1]), int(name[2])) for name in names if name)


def read_worker_shard(
    store: Store, shard: WorkerShard, params: SelfPlayParams, last_step: int | None = None
) -> Games:
    """The games of a worker's shard; raises BrokenShardError, and OSError if it cannot be read.

    `last_step` is of the most trained network that was ever announced; None: not known.
    """
    name = f"{INCOMING}/{shard.file}"
    try:
        games = parse_shard(Path(shard.file), store.read(name)).games
    except ShardError as error:
        raise BrokenShardError(error.reason) from None
    played = games.games
    if ((played["number"] >> GAME_BITS) != shard.session).any():
        raise BrokenShardError("has games whose numbers are of another session")
    if len(set(played["number"].tolist())) < len(played):
        raise BrokenShardError("has the same game twice")
    sizes = set(params.played_sizes)
    for size in set(zip(played["width"].tolist(), played["height"].tolist(), strict=True)):
        if size not in sizes:
            raise BrokenShardError(f"has games on {size[0]}x{size[1]} boards, which are not played")
    if last_step is not None and (played["step"] > last_step).any():
        step = int(played["step"].max())
        raise BrokenShardError(
            f"has games of a network trained for {step:,} steps, and none was trained for more "
            f"than {last_step:,}"
        )
    return games


def reject(store: Store, shard: WorkerShard, reason: str) -> None:
    """Move a shard to where it is not read again, and say so."""
    content = store.read(f"{INCOMING}/{shard.file}")
    store.write(f"{REJECTED}/{shard.file}", content)
    store.remove(f"{INCOMING}/{shard.file}")
    say(f"{store.location}/{REJECTED}/{shard.file}: not learned from, since it {reason}")


def count_left_over(
    store: Store, ledger: Ledger, params: SelfPlayParams, aside: Mapping[str, str]
) -> list[Games]:
    """Count the shards that workers left when a run goes on without them, and return their games.

    Those that were counted are cleared away by the next checkpoint's writer.
    """
    found = []
    for shard in incoming_shards(store):
        if shard in ledger or str(shard.session) in aside:
            continue
        try:
            games = read_worker_shard(store, shard, params)
        except BrokenShardError as error:
            reject(store, shard, str(error))
            continue
        ledger.add(*shard)
        found.append(games)
    return found


def clear_counted(store: Store, ledger: Ledger) -> None:
    """Remove the shards that a checkpoint has counted, which therefore are in the run's own."""
    for shard in incoming_shards(store):
        if shard in ledger:
            store.remove(f"{INCOMING}/{shard.file}")


# Small files


def read_json(store: Store, name: str) -> dict[str, Any]:
    """An object from a file; an empty one if there is none, or it is being written."""
    try:
        found = json.loads(store.read(name))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(store: Store, name: str, values: Mapping[str, Any], durable: bool = False) -> None:
    """Write an object as a whole file."""
    store.write(name, _json(values), durable)


def _json(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False) + "\n").encode()
