"""Tactical positions, each decided by the move that is asked for. Data alone.

The rest of each board is settled and the komi lies between what the right moves and the next best
come to: the right ones win the game and all others lose it, as a solver found for every legal move.
The two ladders on open boards are the exception; no solver reaches their end.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from tengen.game.color import parse_color
from tengen.game.position import Position


class Tactic(NamedTuple):
    """A position and the moves that are right in it."""

    name: str
    to_play: str  # who is asked
    komi: float
    best: Set[str]  # all moves that win
    diagram: str
    worst: Set[str] = frozenset()  # tempting moves that lose, not all of them
    before: str = ""  # moves from the diagram to the question, of both sides in turn
    rules: str = "tromp-taylor"
    visits: int = 200

    def position(self) -> Position:
        """The position in question, the moves before it in its history."""
        moves = self.before.split()
        asked = parse_color(self.to_play)
        first = asked.opponent if len(moves) % 2 else asked
        return Position.from_diagram(self.diagram, first, self.rules, self.komi).play_all(moves)


# Each position keeps its terms on one line, above its picture.
# fmt: off
TACTICS = (
    # Ladders

    # D5 saves two stones in atari and starts a ladder into Black's wall; E6 loses them.
    Tactic("ladder towards one's own wall", "black", 10.5, {"D5"}, worst={"E6"}, diagram="""
        . O . O X . . X .
        O O O O X X X X X
        . O O X X X X . X
        O O X O . . . X X
        . O X . . . . X .
        O O O . . . . X X
        . O . O X X X X .
        O O O O X . X . X
        . O . O X X X X X
    """),
    # D5 starts a ladder that ends at H3 and saves eight stones with a single eye.
    Tactic("ladder across an open board", "black", -6.5, {"D5"}, worst={"E6"}, diagram="""
        . O . O X . . . .
        O O O O X . X . .
        X X O X X X . . .
        . X X O . . . . .
        X X X . . . . . .
        O O X O . . . . .
        . O O O . . . X .
        O O . O O . . . .
        . O O . . . . . .
    """),
    # The same with the whole board to cross: L4 waits at the far end of the ladder.
    Tactic("long ladder", "black", 0.5, {"D9"}, worst={"E10"}, diagram="""
        . O . O X . . . . . . . .
        O O O O X . . . . . . . .
        X X O X X X . . . . . . .
        . X X O . . . . . X . . .
        X X X . . . . . . . . . .
        O O X O . . . . . . . . .
        . O O O . . . . . . . . .
        . . . . . . . . . . . . .
        . . . . . . . . . . . . .
        . . O . . . . . . . X . .
        . . . . . . . . . . . . .
        . . . . . . . . . . . . .
        . . . . . . . . . . . . .
    """),
    # White's stones on the right break the ladder, so D6 runs at E6 and cuts three stones off.
    Tactic("running from a broken ladder", "white", -2.5, {"E6"}, diagram="""
        . O . O X . . X .
        O O O O X X X X X
        . O O X X X X X O
        O O X O . . . O O
        . O X X . . . O .
        O O O . . . . O O
        O O . O O O O O O
        X X X X X X X X X
        . . . . X . . . .
    """),
    # E6 only feeds the ladder; E5 gives D6 up and spoils the most outside.
    Tactic("giving up a stone in a ladder", "white", 15.5, {"E5"}, worst={"E6"}, diagram="""
        . O . O X . . X .
        O O O O X X X X X
        . O O X X X X . X
        O O X O . . . X X
        . O X X . . . X .
        O O O . . . . X X
        . O . O X X X X .
        O O O O X . X . X
        . O . O X X X X X
    """),

    # Nets

    # White stands above and on the right, so either atari fails; the net saves the corner.
    Tactic("net where no ladder works", "black", -9.5, {"F6"}, worst={"E6", "F5"}, diagram="""
        X . X O . O . O .
        X X X O O O O O O
        X X X . . . . O .
        O X X X . . . O O
        O O O X O . . O .
        . O . O X X . O O
        O O O O X . X O .
        X X X X X X X O O
        . X . . X . X O .
    """),
    # The net takes E5 for good; any other move costs two points at least.
    Tactic("net for the last points", "black", 6, {"F6"}, diagram="""
        . O . O . O . . O
        O O O O O O O O O
        X X X . . . . O .
        . . X X . . . O O
        X X X X O . . O .
        . X . X X X . O O
        X X X X . X X O .
        X . X X X X X O O
        . X X . X . X O .
    """),
    # E2 shuts D3 in; the ataris at D2 and E3 are two points worse.
    Tactic("net on the second line", "black", 10, {"E2"}, diagram="""
        . O . O X . X . X
        O O O O X X X X X
        . . . O X . . . .
        O O O O X X X X X
        O O O O X X X X X
        O O O X X X X X X
        X X X O . . O O O
        . X X . . . O . O
        X X . . . . O O .
    """),

    # Snapbacks

    # The stone thrown in at C1 is taken, and three are taken back; after D1 White connects.
    Tactic("snapback at the packed", "black", 13.5, {"C1"}, worst={"D1"}, diagram="""
        O . O . O X .
        O O O O O X X
        O X X X X X .
        O X . . . . X
        O X X X X X X
        O X O O X . X
        O O . . X X X
    """),
    # The snapback takes the second eye and with it the whole group.
    Tactic("snapback that kills", "black", -5.5, {"C1"}, worst={"D1"}, diagram="""
        . O . O O O . O .
        O O O O O O O O O
        X X X X X X X O O
        O O X . . X X O .
        . O X X X X O O O
        O O X . X X O . O
        O X X X X X O O O
        O X O O O X O . O
        O O . . O X O O .
    """),
    # E5 gives one stone for three; the atari at F5 lets them connect.
    Tactic("snapback in the centre", "white", -11.5, {"E5"}, worst={"F5"}, diagram="""
        . O . O . . . O .
        O O O O O O O O O
        X X X O O O . O .
        . . X O X X O O O
        X X X X . . O . O
        . . X X X O O O O
        X X X . X X O . O
        X X X X X X O O O
        . . . . . X O . O
    """),

    # Life and death

    # The middle of three in a row.
    Tactic("killing three in a row", "black", 0.5, {"B9"}, worst={"A9", "C9"}, diagram="""
        . . . O X . . X .
        O O O O X . . X .
        X X X X X X X X X
        . . . . X . . . .
        X X X X X X X X X
        O O O O O O O O O
        . . . . O . . . .
        O O O O O O O O O
        . . . . . . . . .
    """),
    # The corner makes two eyes of three points.
    Tactic("living with a bent three", "white", 0.5, {"J9"}, worst={"H9", "J8"}, diagram="""
        . . X . . X O . .
        . . X . . X O O .
        X X X X X X X O O
        . . X . . . X X X
        X X X X X X X X X
        O O O O O O O O O
        . . . O . . . . .
        O O O O O O O O O
        . . . . . . . . .
    """),
    # The one point with three neighbours.
    Tactic("killing a bulky five", "black", -4.5, {"B6"}, diagram="""
        . . O O X . X
        . . . O X X X
        O O O O X . X
        X X X X X X X
        O O O O O O O
        O O O O O O O
        . . . O . . .
    """),
    # The one point with four neighbours.
    Tactic("killing a rabbity six", "black", -20.5, {"B8"}, diagram="""
        . . O O X . X . X
        . . . O X X X X X
        O . O O X X X X X
        O O O X X O O O O
        X X X X O . . . O
        O O O O O O O O O
        . . . . O . . . .
        O O O O O O O O O
        . . . . . . . . .
    """),
    # E9 makes room for four in a row, B9 two eyes at once; the hane at F9 goes too far.
    Tactic("five on the second line", "white", 0.5, {"B9", "E9"}, worst={"F9"}, diagram="""
        . . . . . . X . X
        O O O O O X X X X
        X X X X X X . X X
        . . . . X . . . .
        X X X X X X X X X
        O O O O O O O O O
        . . . . O . . . .
        O O O O O O O O O
        . . . . . . . . .
    """),
    # E8 cuts E9 off, and White can only connect into its own eye.
    Tactic("making an eye false", "black", 10.5, {"E8"}, diagram="""
        . O O . O X . X .
        O O O O . X X X X
        X X X X X X O O O
        O O O O O O O . .
        . . O . . . O O O
        O O O O O O O O O
        X X X X X X X X X
        . X . . X . . X .
        X X . . X . . X X
    """),
    # B6 joins the two stones and kills; C6, which looks like the centre, does not.
    Tactic("killing with two stones inside", "black", -8.5, {"B6"}, diagram="""
        . X . . O X .
        X . . . O X X
        O O O O O X .
        X X X X X X X
        O O O O O O O
        O O O O O O O
        . . . O . . .
    """),
    # B7 kills from behind the two white stones; C6 does not.
    Tactic("killing in a crooked eye space", "black", -8.5, {"B7"}, diagram="""
        . . O O O X .
        X X . . O X X
        O O O O O X .
        X X X X X X X
        O O O O O O O
        O O O O O O O
        . . . O . . .
    """),
    # B6 kills; A6, which takes the stone in the corner, does not.
    Tactic("killing past a stone in the corner", "black", -8.5, {"B6"}, diagram="""
        O X . X O X .
        . . . . O X X
        O O O O O X .
        X X X X X X X
        O O O O O O O
        O O O O O O O
        . . . O . . .
    """),

    # Capturing races

    # Fill the liberties outside; who fills the shared one at A5 first loses.
    Tactic("race with a shared liberty", "black", 6.5, {"C4", "E4"}, worst={"A5"}, diagram="""
        . . . . O . . . .
        O O O O O O O O O
        O O . O . O O O O
        X X X X X O O O O
        . O O O O X X X X
        O O . X . X X X X
        X X X X X X X X X
        X X X X X X X X X
        . . . . X . . . .
    """),
    # With an eye Black wins in spite of two shared liberties; without it there is a seki.
    Tactic("race won by an eye", "black", 17.5, {"A8"}, worst={"A5", "B5"}, diagram="""
        O O O . O . . O .
        . X O O O O O O O
        . X O O O O O O O
        X X X X X O O O O
        . . O O O X X X X
        O O O . . X X X X
        X X X X X X X X X
        X X X X X X X X X
        . . . . X . . . .
    """),
    # The eye would win the race for Black, so White takes it first.
    Tactic("race won by taking the eye", "white", 11.5, {"A6"}, diagram="""
        O O O . O . O
        . X O O O O O
        . X X X X O O
        X X . . O X X
        O O O O O X X
        X X X . X X X
        . X . X X . X
    """),

    # Ko

    # F9 takes the cutting stone, in a ko for which White has no threat.
    Tactic("ko that connects", "black", -2.5, {"F9"}, diagram="""
        . X X X O . O . O
        X X X O X O O O O
        . X O O X . O . O
        X X O . X O O O O
        O O O O X O X X X
        . O . O X X O O X
        O O O O O O O X X
        X X X X X X X X X
        . . . . X . . . .
    """),
    # White has just taken the ko: threaten the four stones on the right before taking back.
    Tactic("ko threat first", "black", 1.5, {"G4", "G5"}, before="E9", diagram="""
        . X X X . X O . O
        X X X O X O O O O
        . X O O X O X X X
        X X O . X O X O X
        O O O O . O . O X
        . O . O O O . O X
        O O O O O O X O X
        X X X X X X X X X
        . . . . X . . . .
    """),
    # A bent four in the corner without liberties outside: after B9 White has only a ko left.
    Tactic("ko in the corner", "black", 0.5, {"B9"}, diagram="""
        . . . O X . X . X
        . O O O X X X X X
        O O X X X . . . X
        X X X . X X X X X
        X X X X X X X X X
        O O O O O O O O O
        . . . . O . . . .
        O O O O O O O O O
        . . . . . . . . .
    """),

    # Seki

    # Black cannot win the race, but with the outside filled two shared liberties make a seki.
    Tactic("seki instead of death", "black", 0.5, {"D4", "E4"}, worst={"A5", "B5"}, diagram="""
        . . . . O . . . .
        O O O O O O O O O
        O O . O O O O O O
        X X X X X O O O O
        . . O O O X X X X
        O O O . . X X X X
        X X X X X X X X X
        X X X X X X X X X
        . . . . X . . . .
    """),
    # Four black stones inside: A6 makes a seki, anything else leaves White dead.
    Tactic("seki in White's eye space", "white", -3.5, {"A6"}, diagram="""
        . X X . O X .
        . X X . O X X
        O O O O O X .
        X X X X X X X
        O O O O O O O
        O O O O O O O
        . . . O . . .
    """),
    # Whoever plays A4 or B4 loses the seki, and besides it there are only eyes to fill.
    Tactic("leaving a seki alone", "black", 0.5, {"pass"},
           worst={"A4", "B4", "B1", "D1"}, diagram="""
        . O . O O O O
        O O O O O O O
        X X X X O O O
        . . O O X X X
        O O O X X X X
        X X X X X X X
        X . X . X X X
    """),

    # Cutting and connecting

    # Taking two stones at F5 makes one eye; taking one at F3 connects.
    Tactic("taking the cutting stone", "black", -14.5, {"F3"}, worst={"F5"}, diagram="""
        . O O O O O O O .
        O O . O X X X O O
        . O O O X O X O .
        O O O O X O X O O
        O O O O X . O O .
        X X X O X O O O O
        X . X X O . O X X
        X X X X X X X X .
        . . . . X . . X X
    """),
    # B9: if White connects at D9, all its stones there are taken together.
    Tactic("connect and die", "black", -20.5, {"B9"}, diagram="""
        . . O . O . O . .
        X X O O X O O O O
        . X X X X X O . O
        X X . . . X O O O
        . X . X X X O . O
        X X X X X O O O O
        O O O O O O . O .
        . O . O . O O O O
        O O O O O . . . .
    """),
    # A7: if Black connects at A5, the whole chain has one liberty left.
    Tactic("connect and die on the side", "white", 7.5, {"A7"}, diagram="""
        . O O O O . .
        X X O O . O O
        . X O O O O O
        X O O X X X X
        . X X X . X .
        X X . X X X X
        . X X X X . X
    """),
    # White can connect at D8 or at F8, not at both.
    Tactic("double atari", "black", 0.5, {"E7"}, diagram="""
        . O O O . O O O .
        O O O . O . O O O
        X X X O . O X X X
        X . X O X O X . X
        X X X X X X X X X
        . . . . X . . . .
        X X X X X X X X X
        O O O O O O O O O
        . . . . O . . . .
    """),
    # C4 cuts between two chains that Black cannot both connect.
    Tactic("double atari by a cut", "white", -12.5, {"C4"}, diagram="""
        . X O O O . O
        X X O O . O O
        X . X X O O O
        . X . O O . O
        X . X X O O O
        X X O O O . O
        . X O . O O .
    """),

    # Endgame

    # D6 is worth more than the corridor around D2.
    Tactic("the larger of two corridors", "black", 2.5, {"D6"}, diagram="""
        . X X . O O .
        . X X . . O .
        . X . . O O .
        X X X O O O O
        . X X X O O .
        . X . . . O .
        . X X X O O .
    """),
    # D1 is the one move that wins, by half a point.
    Tactic("the largest of three reductions", "white", -6.5, {"D1"}, diagram="""
        . X . . . . O . .
        . X X X X O O O O
        X X . X O O . O .
        . X X X O . O O O
        X X X X X O O . .
        . X . X . O O O O
        X X X X O . O . .
        . X X O . O O O O
        X X . . . . O O .
    """),
    # Connect the ko and leave the neutral point D7 to White.
    Tactic("the last ko", "black", 6.5, {"D4"}, diagram="""
        . X X . O O .
        . X X X O O .
        . X X X O O .
        X X X . X O O
        . X X X O O .
        . X X X O O .
        . X X X O O .
    """),

    # Passing

    # White has passed; Black is half a point ahead and has only eyes to fill.
    Tactic("passing when ahead", "black", 0.5, {"pass"},
           worst={"A7", "B5"}, before="pass", diagram="""
        . X X X O O .
        X X X X O O O
        X . X X O . O
        X X X O O O O
        X X X O O O O
        X X X X O O O
        X X X O O O O
    """),
    # White has passed a move too early: E7 decides.
    Tactic("the last neutral point", "black", -9.5, {"E7"},
           worst={"pass"}, before="pass", diagram="""
        . O O O . X .
        O . O X X X X
        O O X X . X .
        O O X X X X X
        O X X O O O X
        O O O O . O O
        . O . O O . O
    """),
    # White has passed with two stones in atari; as the board stands, Black is behind.
    Tactic("passing would lose", "black", 0.5, {"D4"}, worst={"pass"}, before="pass", diagram="""
        . X . X O O .
        X X X X O O O
        X X O X O . O
        X X O . O O O
        X X X X O O O
        . X X O O . O
        X X X O O O O
    """),
)
# fmt: on
