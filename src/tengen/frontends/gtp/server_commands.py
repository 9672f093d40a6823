"""Commands of servers and of the end of a game: scores, statuses, KGS and CGOS."""

from __future__ import annotations

from tengen.frontends.gtp.dispatch import command
from tengen.frontends.gtp.game_end import result_text, stones_in_seki
from tengen.frontends.gtp.position_edits import anew, stones_of, vertices
from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.gtp.search_text import summary
from tengen.frontends.gtp.session import GtpSession

_STATUSES = ("alive", "seki", "dead")


class ServerCommands:
    """The end of a game, and talk around it."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session

    @command()
    def final_score(self) -> str:
        """The score by the rules, and the result that `printsgf` writes."""
        return result_text(self._session.outcome())

    @command()
    def estimate_score(self) -> str:
        """What the search expects, which is not the score by the rules."""
        from tengen.game.color import Color
        from tengen.game.scoring import SEARCH_VISITS
        from tengen.search.request import Limits

        session = self._session
        limits = Limits(visits=SEARCH_VISITS)
        found = session.search(session.request(anew(session.position), limits))
        color = found.position.to_play if found.lead > 0 else found.position.to_play.opponent
        letter = "B" if color is Color.BLACK else "W"
        return f"{letter}+{abs(found.lead):.1f}"

    @command()
    def final_status_list(self, status: str) -> str:
        status = status.lower()
        if status not in _STATUSES:
            raise GtpError(f"syntax error: a status is one of {', '.join(_STATUSES)}")
        position = self._session.position
        dead = self._session.dead_stones()
        if status == "dead":
            return vertices(position, list(dead))
        seki = stones_in_seki(position, dead)
        if status == "seki":
            return vertices(position, list(seki))
        black, white, _ = stones_of(position)
        return vertices(position, [p for p in (*black, *white) if p not in dead | seki])

    @command("kgs-chat")
    def kgs_chat(self, *words: str) -> str:
        """Answer a spectator with the last evaluation of the game."""
        del words
        found = self._session.last_result
        if found is None:
            return f"I am {self._session.options.name}, a program that plays Go."
        return f"I think that {summary(found)}."

    @command("kgs-game_over", "cgos-gameover")
    def game_over(self, *result: str) -> None:
        del result
        self._session.rest()

    @command("cgos-opponent_name")
    def cgos_opponent_name(self, *name: str) -> None:
        self._session.opponent = " ".join(name)

    @command("cgos-opponent_rating")
    def cgos_opponent_rating(self, *rating: str) -> None:
        del rating
