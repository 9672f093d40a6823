"""Requests about a player's moments: the next puzzle, a try at it, its answer."""

from __future__ import annotations

from tengen.frontends.web.play.client_messages import MomentId, PointText, message
from tengen.frontends.web.play.requests.request_group import Requests


class MomentRequests(Requests):
    @message
    async def moment(self) -> None:
        await self.session.moments.ask()

    @message
    async def try_moment(self, moment: MomentId, move: PointText) -> None:
        await self.session.moments.attempt(moment, move)

    @message
    async def answer_moment(self, moment: MomentId) -> None:
        await self.session.moments.answer(moment)

    @message
    async def forget_moment(self, moment: MomentId) -> None:
        await self.session.moments.forget(moment)
