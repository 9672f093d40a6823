"""The text of an SGF file whose declared encoding is missing or wrong as often as not."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import NamedTuple

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What programs that declare these really write.
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "cp950",
}
_CHARSET = re.compile(rb"\bCA\s*\[\s*([A-Za-z0-9_.:-]{1,40})\s*\]")
# A comment may quote one, so the first node is looked at before the rest; there half a character
# that looks like a backslash may hide it. No byte is looked at twice, whatever the file.
_CHARSET_OF_ROOT = re.compile(
    rb"(?>.*?\(\s*;)\s*(?:[A-Za-z]+\s*(?:\[[^\\\]]*+(?:\\.[^\\\]]*+)*+\]\s*)+)*?"
    + _CHARSET.pattern,
    re.DOTALL,
)
# SGF is made of these; an encoding that reads them otherwise, such as UTF-16, cannot be meant.
_SIGNS = "();[]\\"
# Declared by default, so no evidence; every file can be read in them.
_SAYS_NOTHING = {"iso8859-1", "ascii", "cp1252"}
# What a guess must score; and how much more a script gets that the file itself declares.
_PLAUSIBLE, _HEAD_START = 0.7, 0.25


class _Script(NamedTuple):
    """A way of writing in East Asia."""

    fitness: Callable[[str], float]  # how well a character fits into such text, 0 to 1
    least: int = 1  # characters a guess needs: few read well in many scripts


def _lead(character: str, encoding: str) -> int:
    try:
        return character.encode(encoding)[0]
    except UnicodeEncodeError:
        return 0


# Everyday Korean read as Chinese gives everyday characters too, but Chinese read as Korean gives
# syllables no word is made of; so Korean that is nothing but plain syllables fits better.
_EVERYDAY, _RARE = 0.95, 0.6
_PLAIN_INITIALS = {0, 2, 3, 5, 6, 7, 9, 11, 12, 14, 16, 17, 18}  # not doubled, and no k
_PLAIN_FINALS = {0, 1, 4, 8, 16, 17, 19, 20, 21}  # none, g, n, l, m, b, s, ss, ng


def _fits_korean(character: str) -> float:
    if not 0xB0 <= _lead(character, "euc_kr") <= 0xC8:
        return 1.0 if _is_punctuation(character) else 0.0
    syllable, final = divmod(ord(character) - ord("가"), 28)
    plain = syllable // 21 in _PLAIN_INITIALS and final in _PLAIN_FINALS
    return 1.0 if plain else 0.8


def _fits_simplified_chinese(character: str) -> float:
    lead = _lead(character, "gb2312")
    if 0xB0 <= lead <= 0xD7 or _is_punctuation(character):
        return _EVERYDAY
    return _RARE if 0xD8 <= lead <= 0xF7 else 0.0


def _fits_japanese(character: str) -> float:
    lead = _lead(character, "shift_jis")
    if "\u3040" <= character <= "\u30ff" or 0x88 <= lead <= 0x97 or _is_punctuation(character):
        return _EVERYDAY
    return _RARE if 0x98 <= lead <= 0x9F or 0xE0 <= lead <= 0xEA else 0.0


def _fits_traditional_chinese(character: str) -> float:
    lead = _lead(character, "big5")
    if 0xA4 <= lead <= 0xC6 or _is_punctuation(character):
        return _EVERYDAY
    return _RARE if 0xC9 <= lead <= 0xF9 else 0.0


def _is_punctuation(character: str) -> bool:
    return "\u3000" <= character <= "\u303f" or "\uff01" <= character <= "\uff5e"


# By encoding; of readings that are equally good the first one wins.
_SCRIPTS = {
    "cp949": _Script(_fits_korean, least=6),
    "gb18030": _Script(_fits_simplified_chinese),
    "cp932": _Script(_fits_japanese),
    "cp950": _Script(_fits_traditional_chinese),
}


def decode_sgf(data: bytes) -> tuple[str, str]:
    """The text and the encoding it was read in; never fails.

    A file that reads well in the encoding it declares is taken at its word; otherwise it is
    UTF-8 if it can be, the likeliest East Asian encoding if its characters make sense in one,
    and Western European if not.
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
        return text, declared  # letters of Western words beyond ASCII would stand alone
    western = _decoded(data, "cp1252")
    return (data.decode("latin-1"), "latin-1") if western is None else (western, "cp1252")


def _is_likelier_than_utf8(text: str, declared: str, n_bytes: int) -> bool:
    """Is text as declared likelier than UTF-8, which the file can be read as too?

    Every file can be read in an encoding with a byte for each character, so that is no sign.
    """
    script = _SCRIPTS.get(declared)
    if script is None:
        return len(text) != n_bytes
    return _plausibility(text, script, trusted=False) >= _PLAUSIBLE


def _declared_encoding(data: bytes) -> str | None:
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
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        return None


def _plausibility(text: str, script: _Script, trusted: bool) -> float:
    """How well the characters beyond ASCII fit into the script and stand where they may.

    Western text read as East Asian yields single characters within words, and at the ends of
    words unless the script is `trusted`, as the one that the file declares.
    """
    least, beside, bonus = (1, all, _HEAD_START) if trusted else (script.least, any, 0.0)
    fitness, foreign = 0.0, 0
    for match in re.finditer(r"[^\x00-\x7f]+", text):
        run = match[0]
        foreign += len(run)
        around = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if len(run) > 1 or not beside(map(str.isalpha, around)):
            fitness += sum(map(script.fitness, run))
    if foreign < least:
        return 1.0 if foreign == 0 else 0.0
    return fitness / foreign + bonus
