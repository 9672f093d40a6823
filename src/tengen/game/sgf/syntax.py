"""SGF syntax: a tree of nodes with properties, a tolerant parser and a writer. Knows no Go.

The parser is our own because sgfmill's rejects truncated files, reports no offsets, and takes a
hundred bytes for each escape. Parsing works on text, not on bytes, because in Shift-JIS and GB18030
the second byte of a character may look like a bracket or a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tengen.game.sgf.encoding import decode_sgf

LINE_LENGTH = 79

_LINE_BREAK = re.compile(r"\n\r|\r\n|\r")
_SPACES = dict.fromkeys(map(ord, "\t\v\f"), " ")
_BACKSLASH = "\ud800"  # stands for one that is meant; no text that was decoded has it

_START = re.compile(r"\(\s*(?=;|[A-Za-z]{1,64}\[)")
_BLANK = re.compile(r"[\s\x00-\x1f\ufeff]*")
_TOKEN = re.compile(
    rf"{_BLANK.pattern}(?:(?P<sign>[;()])"
    r"|(?P<identifier>[A-Za-z]{1,64})"
    # Possessive: else the matcher remembers every escape, to come back to it.
    r"|\[(?P<value>[^\\\]]*+(?:\\.[^\\\]]*+)*+)(?:\]|\\?\Z)"
    r"|(?P<end>\Z))",
    re.DOTALL,
)


class SgfError(ValueError):
    """SGF that cannot be read; the message has the file, where in it, and the reason."""

    def __init__(self, source: str, offset: int, reason: str) -> None:
        super().__init__(source, offset, reason)
        self.source = source
        self.offset = offset
        self.reason = reason

    def __str__(self) -> str:
        where = f", offset {self.offset}" if self.offset else ""  # 0: the file as a whole
        return f"{self.source}{where}: {self.reason}"


@dataclass(eq=False)
class SgfNode:
    """A node: its properties with their raw values, and its variations, the main line first."""

    properties: dict[str, list[str]] = field(default_factory=dict)
    children: list[SgfNode] = field(default_factory=list)
    offset: int = 0  # in the text it was read from

    def raw(self, name: str) -> str | None:
        """The first raw value of a property, None if there is none."""
        values = self.properties.get(name)
        return values[0] if values else None

    def text(self, name: str) -> str:
        """The first value of a property with escapes resolved, "" if there is none."""
        return text_value(self.raw(name) or "")

    def set_text(self, name: str, text: str) -> None:
        """Set a property to one text value, escaped for SGF."""
        self.properties[name] = [text.replace("\\", "\\\\").replace("]", "\\]")]

    def main_line(self) -> Iterator[SgfNode]:
        """This node and the first child of each, down to the leaf."""
        node = self
        yield node
        while node.children:
            node = node.children[0]
            yield node


def text_value(raw: str) -> str:
    """The text that a raw value stands for.

    Line breaks become newlines, other white space spaces; escaped line breaks disappear, and so do
    other backslashes, but for the second of two. Whole-text replacements, since a loop over escapes
    would take much more memory than the text.
    """
    text = raw.encode("utf-8", "replace").decode("utf-8")  # now without surrogates
    if "\r" in text:
        text = _LINE_BREAK.sub("\n", text)
    text = text.translate(_SPACES)
    if "\\" in text:
        text = text.replace("\\\\", _BACKSLASH).replace("\\\n", "").replace("\\", "")
        text = text.replace(_BACKSLASH, "\\")
    return text


def read_trees(data: bytes | str, source: str) -> tuple[list[SgfNode], str]:
    """Parse a file into the roots of its games, at least one, and its encoding; raises SgfError.

    Skips text before, between and after the games. Truncated files are read to their end.
    """
    text, encoding = (data, "text") if isinstance(data, str) else decode_sgf(data)
    roots = []
    start = _START.search(text)
    while start is not None:
        root, end = _read_tree(text, start.start(), source)
        roots.append(root)
        start = _START.search(text, end)
    if not roots:
        raise SgfError(source, 0, "no game found: SGF begins with '(;'")
    return roots, encoding


def _read_tree(text: str, offset: int, source: str) -> tuple[SgfNode, int]:
    """Parse the game at an offset into its root and the offset of its end.

    The semicolon before the first node is optional, since some programs omit it.
    """
    above = SgfNode()  # the root becomes its only child
    node = above
    branches: list[SgfNode] = []  # the node before each open parenthesis
    name = ""  # of the property whose values may follow
    opened = False  # after a parenthesis, before its first node
    while True:
        token = _TOKEN.match(text, offset)
        if token is None:
            blank = _BLANK.match(text, offset)
            offset = blank.end() if blank else offset
            raise SgfError(source, offset, f"unexpected {text[offset : offset + 1]!r}")
        if token["sign"] == ";" or (opened and token["identifier"]):
            node.children.append(SgfNode(offset=token.start(token.lastgroup or 0)))
            node = node.children[-1]
            name, opened = "", False
        if token["sign"] == "(":
            branches.append(node)
            name, opened = "", True
        elif token["sign"] == ")":
            node = branches.pop()
            name, opened = "", False
        elif token["identifier"]:
            # Old files write AddBlack or ab for AB.
            name = re.sub(r"[a-z]", "", token["identifier"]) or token["identifier"].upper()
        elif token["value"] is not None:
            if not name:
                raise SgfError(source, token.start("value") - 1, "a value without a property")
            node.properties.setdefault(name, []).append(token["value"])
        if not branches or token["end"] is not None:
            break
        offset = token.end()
    return above.children[0], token.end()


def write_tree(root: SgfNode) -> bytes:
    """The game as UTF-8, with line breaks between properties."""
    pieces = []
    todo: list[SgfNode | str] = [")", root, "("]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            pieces.append(part)
            continue
        pieces.append(";")
        for name, values in part.properties.items():
            pieces.append(name + "".join(f"[{value}]" for value in values))
        for child in reversed(part.children):
            todo += [child] if len(part.children) == 1 else [")", child, "("]
    return "\n".join(_lines(pieces)).encode("utf-8", "replace")


def _lines(pieces: list[str]) -> Iterator[str]:
    """Join pieces to lines of at most LINE_LENGTH where possible, with an empty line at the end."""
    line = ""
    for piece in pieces:
        if len(line) + len(piece) > LINE_LENGTH:
            yield line
            line = ""
        line += piece
    yield line
    yield ""
