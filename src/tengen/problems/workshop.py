"""A folder in which problems are made, part by part; interrupted work is resumed.

A part is some games; its problems are one file, written whole. What a part gives depends on its
number, the seed and the networks alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tengen.atomic_files import replace_file
from tengen.game.geometry import Size, parse_size
from tengen.game.sgf.records import load_sgf
from tengen.problems.level_games import play_games, watched
from tengen.problems.making import Maker
from tengen.problems.problem import Problem
from tengen.problems.problem_files import read_problems, write_problems

SETTINGS, PARTS, RESULT = "settings.json", "parts", "problems.jsonl"
MOST_OF_A_FILE = 20  # games of one SGF file that are read


@dataclass(frozen=True)
class Terms:
    """What the problems of a folder depend on."""

    sizes: tuple[str, ...]  # of the boards that games are played on
    seed: int
    games: int  # in a part
    visits: int  # of each search
    networks: tuple[str, ...]  # the one that plays and judges, and those that have to agree


class Workshop:
    """The folder; raises ValueError where other problems were made in it."""

    def __init__(self, folder: Path, terms: Terms) -> None:
        self.folder, self.terms = folder, terms
        self._parts = folder / PARTS
        self._parts.mkdir(parents=True, exist_ok=True)
        self._check_terms()

    def _check_terms(self) -> None:
        path = self.folder / SETTINGS
        wanted = json.loads(json.dumps(asdict(self.terms)))
        if not path.exists():
            replace_file(path, json.dumps(wanted, indent=1).encode())
            return
        try:
            found = json.loads(path.read_text("utf-8"))
        except ValueError:
            raise ValueError(f"{path} is damaged; name another folder") from None
        for name, value in wanted.items():
            if name != "sizes" and found.get(name) != value:
                raise ValueError(
                    f"{self.folder}: was begun with {name} {found.get(name)!r}, not {value!r}; "
                    "name another folder"
                )

    def problems(self) -> list[Problem]:
        """All problems so far, the same shape once; those of easier grades first."""
        found: dict[str, Problem] = {}
        for part in sorted(self._parts.glob("*.jsonl")):
            for problem in read_problems(part):
                found.setdefault(problem.id, problem)
        return sorted(found.values(), key=lambda each: (each.size.area, each.grade, each.id))

    def make_from_play(self, maker: Maker, size: Size, number: int) -> int:
        """Make a part's problems from games that are played for it; how many there are."""
        path = self._parts / f"{size}-{number:05}.jsonl"
        if path.exists():
            return len(read_problems(path))
        seed = (self.terms.seed, size.width, size.height, number)
        games = play_games(maker.engine, size, self.terms.games, seed)
        named = (
            game._replace(name=f"{size} of seed {self.terms.seed}, game {number}.{k}, {game.name}")
            for k, game in enumerate(games)
        )
        return _written(path, (each for game in named for each in maker.problems_in(game)))

    def make_from_file(self, maker: Maker, file: Path) -> int:
        """Make the problems in the games of an SGF file; raises ValueError and OSError."""
        content = file.read_bytes()
        path = self._parts / f"sgf-{hashlib.sha256(content).hexdigest()[:16]}.jsonl"
        if path.exists():
            return len(read_problems(path))
        games = load_sgf(file)[:MOST_OF_A_FILE]
        lines = [(file.name, list(game.positions())) for game in games]
        watch = (watched(maker.engine, name, line) for name, line in lines)
        return _written(path, (each for game in watch for each in maker.problems_in(game)))

    def sizes(self) -> Sequence[Size]:
        """The boards that games are played on."""
        return [parse_size(each) for each in self.terms.sizes]

    def write_result(self, most_of_a_grade: int | None = None) -> Path:
        """Write the problems of all parts into one file."""
        path = self.folder / RESULT
        problems: Iterable[Problem] = self.problems()
        if most_of_a_grade is not None:
            problems = balanced(problems, most_of_a_grade)
        write_problems(path, problems)
        return path


def _written(path: Path, problems: Iterable[Problem]) -> int:
    found = list({each.id: each for each in problems}.values())
    write_problems(path, found)
    return len(found)


def balanced(problems: Iterable[Problem], most: int) -> Iterator[Problem]:
    """At most so many of each size and grade."""
    taken: Counter[tuple[Size, int]] = Counter()
    for problem in problems:
        kind = problem.size, problem.grade
        if taken[kind] < most:
            taken[kind] += 1
            yield problem
