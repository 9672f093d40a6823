"""Decode SGF files, whose declared encoding is often missing or wrong."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Supersets that programs write when they declare these encodings.
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "cp950",
}
_CHARSET = re.compile(rb"\bCA\s*\[\s*([A-Za-z0-9_.:-]{1,40})\s*\]")
# Try the root node before the rest of the file, where comments may quote a CA property. In the root
# node a byte of a two-byte character that looks like a backslash may hide it. The pattern is
# possessive, so that matching takes linear time for any file.
_CHARSET_OF_ROOT = re.compile(
    rb"(?>.*?\(\s*;)\s*(?:[A-Za-z]+\s*(?:\[[^\\\]]*+(?:\\.[^\\\]]*+)*+\]\s*)+)*?"
    + _CHARSET.pattern,
    re.DOTALL,
)
# SGF syntax; an encoding that changes these characters, such as UTF-16, cannot be right.
_SIGNS = "();[]\\"
# No evidence: many programs declare these by default, whatever they write.
_SAYS_NOTHING = {"iso8859-1", "ascii", "cp1252"}
# The plausibility that a guess needs, and the bonus of the declared encoding.
_PLAUSIBLE, _HEAD_START = 0.7, 0.25


# Korean decoded as Chinese often gives common characters too, but Chinese decoded as Korean gives
# syllables that occur in no word; so Korean text of plain syllables alone scores above Chinese.
_EVERYDAY, _RARE = 0.95, 0.6
_PLAIN_INITIALS = {0, 2, 3, 5, 6, 7, 9, 11, 12, 14, 16, 17, 18}  # neither doubled nor k
_PLAIN_FINALS = {0, 1, 4, 8, 16, 17, 19, 20, 21}  # none, g, n, l, m, b, s, ss, ng


class _Script(NamedTuple):
    """An East Asian script: how common a character is, from its first byte in an encoding."""

    encoding: str
    common: range
    rare: tuple[range, ...]
    kana: bool = False
    least: int = 1  # characters that a guess needs; a few look plausible in many scripts

    def fitness(self, character: str) -> float:
        """How common a character is in the script, 0 to 1."""
        try:
            lead = character.encode(self.encoding)[0]
        except UnicodeEncodeError:
            lead = 0
        is_punctuation = "\u3000" <= character <= "\u303f" or "\uff01" <= character <= "\uff5e"
        if self is _KOREAN:
            if lead not in self.common:
                return 1.0 if is_punctuation else 0.0
            syllable, final = divmod(ord(character) - ord("가"), 28)
            plain = syllable // 21 in _PLAIN_INITIALS and final in _PLAIN_FINALS
            return 1.0 if plain else 0.8
        is_kana = self.kana and "\u3040" <= character <= "\u30ff"
        if lead in self.common or is_punctuation or is_kana:
            return _EVERYDAY
        return _RARE if any(lead in leads for leads in self.rare) else 0.0


_KOREAN = _Script("euc_kr", range(0xB0, 0xC9), (), least=6)
# By encoding; the first one wins ties.
_SCRIPTS = {
    "cp949": _KOREAN,
    "gb18030": _Script("gb2312", range(0xB0, 0xD8), (range(0xD8, 0xF8),)),
    "cp932": _Script(
        "shift_jis", range(0x88, 0x98), (range(0x98, 0xA0), range(0xE0, 0xEB)), kana=True
    ),
    "cp950": _Script("big5", range(0xA4, 0xC7), (range(0xC9, 0xFA),)),
}


def decode_sgf(data: bytes) -> tuple[str, str]:
    """The text of a file and the encoding used; never fails.

    Uses the declared encoding if the text is plausible in it, else UTF-8 if it decodes, else the
    most plausible East Asian encoding, else Western European.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), encoding
    declared = _declared_encoding(data) or ""
    text = _decoded(data, declared) if declared else None
    utf8 = _decoded(data, "utf-8")
    if utf8 is not None:
        if text is not None and _is_likelier_than_utf8(text, declared, len(data)):
            return text, declared
        return utf8, "utf-8"
    if text is not None and declared not in _SCRIPTS:
        return text, declared
    readings = [
        (_plausibility(reading, script, trusted=encoding == declared), reading, encoding)
        for encoding, script in _SCRIPTS.items()
        if (reading := _decoded(data, encoding)) is not None
    ]
    best = max(readings, key=lambda reading: reading[0], default=(0.0, "", ""))
    if best[0] >= _PLAUSIBLE:
        return best[1], best[2]
    if text is not None and re.search(rb"[\x80-\xff]{2}", data):
        return text, declared  # Western text rarely has two non-ASCII bytes in a row
    western = _decoded(data, "cp1252")
    return (data.decode("latin-1"), "latin-1") if western is None else (western, "cp1252")


def _is_likelier_than_utf8(text: str, declared: str, n_bytes: int) -> bool:
    """Whether the declared encoding is likelier than UTF-8 for a file that decodes in both.

    Single-byte encodings decode every file, so they are no evidence.
    """
    script = _SCRIPTS.get(declared)
    if script is None:
        return len(text) != n_bytes
    return _plausibility(text, script, trusted=False) >= _PLAUSIBLE


def _declared_encoding(data: bytes) -> str | None:
    """The encoding of the CA property, None if it is missing, unknown or no evidence."""
    match = _CHARSET_OF_ROOT.match(data) or _CHARSET.search(data)
    if not match:
        return None
    try:
        codec = codecs.lookup(match[1].decode("ascii"))
    except LookupError:
        return None
    if codec.name in _SAYS_NOTHING or _decoded(_SIGNS.encode(), codec.name) != _SIGNS:
        return None
    return _WIDER.get(codec.name, codec.name)


def _decoded(data: bytes, encoding: str) -> str | None:
    """The text in this encoding, None if it does not decode."""
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        return None


def _plausibility(text: str, script: _Script, trusted: bool) -> float:
    """The mean fitness of the non-ASCII characters, plus a bonus if `trusted` (declared).

    Single characters next to ASCII letters count 0: Western text decoded as East Asian has them.
    If trusted, they count 0 only between two letters.
    """
    least, joined, bonus = (1, all, _HEAD_START) if trusted else (script.least, any, 0.0)
    fitness, foreign = 0.0, 0
    for match in re.finditer(r"[^\x00-\x7f]+", text):
        run = match[0]
        foreign += len(run)
        around = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if len(run) > 1 or not joined(map(str.isalpha, around)):
            fitness += sum(map(script.fitness, run))
    if foreign < least:
        return 1.0 if foreign == 0 else 0.0
    return fitness / foreign + bonus
