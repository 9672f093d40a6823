"""A review in words."""

from __future__ import annotations

from tengen.game.color import Color
from tengen.game.geometry import Point, point_text
from tengen.reviewing.review import GameReview, Standing, TurnReview

AS_GOOD = 0.05  # points below which a loss rounds to 0.0


def line_text(line: tuple[Point | None, ...], height: int) -> str:
    """Moves separated by spaces."""
    return " ".join(point_text(move, height) for move in line)


def points_text(points: float) -> str:
    """1 point, 4.2 points."""
    number = f"{points:.1f}".removesuffix(".0")
    return f"{number} point" if number == "1" else f"{number} points"


def share_text(share: float) -> str:
    """A probability in per cent; never rounded to 0% or 100%."""
    if 0.995 <= share < 1:
        return "over 99%"
    if 0 < share < 0.005:
        return "under 1%"
    return f"{share:.0%}"


def standing_text(standing: Standing) -> str:
    """Who is ahead, by how much, and with what win rate."""
    if abs(standing.lead) < AS_GOOD:
        return f"the game is even (Black wins {share_text(standing.winrate)})"
    leader = Color.BLACK if standing.lead > 0 else Color.WHITE
    winrate = standing.winrate if leader is Color.BLACK else 1 - standing.winrate
    name = str(leader).capitalize()
    ahead = points_text(abs(standing.lead))
    return f"{name} is ahead by {ahead} ({name} wins {share_text(winrate)})"


def verdict_text(turn: TurnReview, height: int) -> str:
    """The verdict on a move, in one sentence."""
    best = point_text(turn.best, height)
    if turn.best == turn.move:
        return "The best move."
    if turn.points_lost < AS_GOOD:
        return f"As good as {best}."
    if not turn.is_mistake:
        return f"{best[:1].upper()}{best[1:]} is better by {points_text(turn.points_lost)}."
    winrate = f" and {turn.winrate_lost:.0%} of win rate" if turn.winrate_lost >= 0.01 else ""
    return f"Loses {points_text(turn.points_lost)}{winrate}; {best} was better."


def side_text(review: GameReview, color: Color) -> str:
    """The summary of a side, in one line; "" if it has no moves."""
    side = review.side(color)
    if not side.moves:
        return ""
    count = len(side.mistakes)
    if side.accuracy is None:
        found = f"{count} possible mistake{'' if count == 1 else 's'} in " if count else ""
        return f"not rated, {found}{side.moves} move{'' if side.moves == 1 else 's'}"
    mistakes = f"{count} mistake{'' if count == 1 else 's'}" if count else "no mistakes"
    return (
        f"accuracy {side.accuracy:.0f}%, {points_text(side.mean_loss)} lost per move, "
        f"{mistakes} in {side.moves} move{'' if side.moves == 1 else 's'}"
    )


def remarks(review: GameReview) -> list[str]:
    """Remarks on what the review does not cover."""
    found = []
    if review.unfamiliar is not None:
        found.append(f"{review.unfamiliar}. So no accuracy is shown.")
    if review.broken_off:
        found.append(f"The rest cannot be reviewed: {review.broken_off}.")
    if review.missing:
        found.append(f"Stopped early: {review.missing} moves were not reviewed.")
    if review.unchecked:
        found.append(f"Stopped early: {review.unchecked} losses are first estimates.")
    return found
