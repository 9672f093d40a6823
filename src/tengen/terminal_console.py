"""Tables, colours and progress bars in a terminal, without control characters of files."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from tengen.user_messages import printable


class TerminalConsole(Console):
    """rich's console; all text is made printable when it is rendered, its own styles are not."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of what is printed, their text printable."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=printable(segment.text, keep="\n"))
