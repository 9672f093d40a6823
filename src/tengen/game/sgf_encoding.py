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
# Declared by default, so no evidence; every file can be read in them.
_SAYS_NOTHING = {"iso8859-1", "ascii", "cp1252"}
# A file must be this plausible in the encoding it declares, or in one that was guessed.
_PLAUSIBLE = 0.7


class _Script(NamedTuple):
    """An encoding of East Asian text and which characters are everyday ones in it."""

    encoding: str
    is_common: Callable[[str], bool]
    least: int = 1  # characters a guess needs: few read well in many scripts


def _lead(character: str, encoding: str) -> int:
    try:
        return character.encode(encoding)[0]
    except UnicodeEncodeError:
        return 0


def _common_in_simplified_chinese(character: str) -> bool:
    return 0xB0 <= _lead(character, "gb2312") <= 0xD7 or _is_punctuation(character)


def _common_in_japanese(character: str) -> bool:
    return (
        "\u3040" <= character <= "\u30ff"
        or 0x88 <= _lead(character, "shift_jis") <= 0x97
        or _is_punctuation(character)
    )


def _common_in_traditional_chinese(character: str) -> bool:
    return 0xA4 <= _lead(character, "big5") <= 0xC6 or _is_punctuation(character)


def _common_in_korean(character: str) -> bool:
    return 0xB0 <= _lead(character, "euc_kr") <= 0xC8 or _is_punctuation(character)


def _is_punctuation(character: str) -> bool:
    return "\u3000" <= character <= "\u303f" or "\uff01" <= character <= "\uff5e"


# Of readings that are equally good the first one wins.
_SCRIPTS = (
    _Script("cp949", _common_in_korean, least=5),
    _Script("gb18030", _common_in_simplified_chinese),
    _Script("cp932", _common_in_japanese),
    _Script("cp950", _common_in_traditional_chinese),
)


def decode_sgf(data: bytes) -> tuple[str, str]:
    """The text and the encoding it was read in; never fails.

    A file that reads well in the encoding it declares is taken at its word; otherwise it is
    UTF-8 if it can be, the likeliest East Asian encoding if its characters make sense in one,
    and Western European if not.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), encoding
    declared = _declared_encoding(data)
    if declared and (text := _decoded(data, declared)) is not None:
        script = next((script for script in _SCRIPTS if script.encoding == declared), None)
        if script is None or _plausibility(text, script, least=1) >= _PLAUSIBLE:
            return text, declared
    if (text := _decoded(data, "utf-8")) is not None:
        return text, "utf-8"
    readings = [
        (_plausibility(text, script, script.least), text, script.encoding)
        for script in _SCRIPTS
        if (text := _decoded(data, script.encoding)) is not None
    ]
    best = max(readings, key=lambda reading: reading[0], default=(0.0, "", ""))
    if best[0] >= _PLAUSIBLE:
        return best[1], best[2]
    western = _decoded(data, "cp1252")
    return (data.decode("latin-1"), "latin-1") if western is None else (western, "cp1252")


def _declared_encoding(data: bytes) -> str | None:
    match = re.search(rb"\bCA\s*\[\s*([A-Za-z0-9_.:-]{1,40})\s*\]", data)
    if not match:
        return None
    try:
        codec = codecs.lookup(match[1].decode("ascii"))
    except LookupError:
        return None
    if not codec._is_text_encoding or codec.name.startswith("utf-16"):
        return None  # such as base64; and what could be searched for CA is not UTF-16
    return None if codec.name in _SAYS_NOTHING else _WIDER.get(codec.name, codec.name)


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        return None


def _plausibility(text: str, script: _Script, least: int) -> float:
    """The share of the characters beyond ASCII that are everyday ones and stand where they may.

    Western text read as East Asian yields single characters in the middle of words.
    """
    common = foreign = 0
    for match in re.finditer(r"[^\x00-\x7f]+", text):
        run = match[0]
        foreign += len(run)
        inside_word = (
            len(run) == 1
            and text[match.start() - 1 : match.start()].isalpha()
            and text[match.end() : match.end() + 1].isalpha()
        )
        if not inside_word:
            common += sum(map(script.is_common, run))
    if foreign < least:
        return 1.0 if foreign == 0 else 0.0
    return common / foreign
