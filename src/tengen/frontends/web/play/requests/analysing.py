"""Requests about the network: which one to use, analyses, reviews."""

from __future__ import annotations

from tengen.frontends.web.limits import not_now
from tengen.frontends.web.play.client_messages import NetworkName, ReviewVisits, message
from tengen.frontends.web.play.requests.request_group import Requests
from tengen.frontends.web.play.server_messages import game_view


class AnalysisRequests(Requests):
    @message
    async def use_network(self, network: NetworkName | None) -> None:
        if network != self.game.network:
            self.session.tasks.cancel("move", "hint", "count")
            self.session.live.forget()
            self.session.reviews.forget()
            self.session.use_network(network)
        self.session.send(game_view(self.game))
        self.session.changed()

    @message
    async def analyse(self, on: bool) -> None:
        if not on:
            self.session.live.stop()
        elif self.game.phase == "playing" and self.game.bot is not None:
            raise not_now("there is no analysis during a game against the program, only hints")
        else:
            self.session.live.follow()

    @message
    async def review(self, visits: ReviewVisits = 50) -> None:
        self.session.need_network()
        self.session.reviews.begin(visits)

    @message
    async def stop_review(self) -> None:
        self.session.reviews.stop()

    @message
    async def better(self) -> None:
        self.session.need_network()
        if self.game.result is None:
            raise not_now("better moves are shown after the game")
        self.session.reviews.begin_better()
