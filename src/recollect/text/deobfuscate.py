"""Undoes disguises in a text, so that screening rules match what a reader would see.

These forms are never stored. A finding in one of them is reported for the original text.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

_DECODINGS_MAX = 3
_EXPANSION_MAX = 4


def readable_forms(text: str) -> tuple[str, ...]:
    """The distinct readable forms of a text: plain, with escapes decoded, and with letters joined
    that are separated by spaces, by marks (`i.g.n.o.r.e`) or by markup (`ig**nore**`).

    The plain form comes first. All of them must be checked: a decoded `%2F` may end a password in a
    URL that is complete in the form before.
    """
    # Escapes may be nested ("%2520"), so decoding is repeated, but not without end.
    seen = [to_plain_text(text)]
    for _ in range(_DECODINGS_MAX):
        seen.append(to_plain_text(_decode_escapes(seen[-1])))
        if seen[-1] == seen[-2]:
            break
    seen.append(_SPELLED.sub(lambda found: found[0].replace(" ", ""), seen[-1]))
    parted = _PARTED.sub(lambda found: _MARK.sub("", found[0]), seen[-1])
    seen.append(_MARKUP.sub("", parted))
    return tuple(dict.fromkeys(seen))


def encoded_texts(text: str) -> Iterator[str]:
    """The texts that a text holds encoded in base64 or as hexadecimal bytes."""
    # Only what decodes to UTF-8 can be a text; keys and hashes are in base64 too.
    for found in _BASE64.finditer(text):
        run = _BLANKS.sub("", found[0]).translate(_URL_SAFE)
        try:
            yield base64.b64decode(run[: len(run) // 4 * 4]).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
    for found in _HEX.finditer(text):
        digits = _HEX_JOINT.sub("", found[0])
        try:
            yield bytes.fromhex(digits[: len(digits) // 2 * 2]).decode()
        except UnicodeDecodeError:
            continue


def may_hold_encoded(text: str) -> bool:
    """A quick check: False if `encoded_texts` has nothing to give."""
    long = max(map(len, text.split()), default=0) >= _RUN_CHARS
    return (long and _RUN.search(text) is not None) or _HEX_RUN.search(text) is not None


def to_plain_text(text: str) -> str:
    """NFKC without invisible characters; every line ends with a line feed."""
    return unicodedata.normalize("NFKC", text.translate(_VISIBLE))


def join_base64_lines(view: str) -> str:
    """The text without line breaks that are, or may be, inside base64."""
    return _BREAK_IN_BASE64.sub("", view)


def _decode_escapes(text: str) -> str:
    return _ESCAPE.sub(_decode_escape, text)


def _decode_escape(found: re.Match[str]) -> str:
    escape = found[0]
    if escape[0] == "&":
        code = int(found["hex"], 16) if found["hex"] else int(found["number"])
        return chr(code) if code < 0x110000 else escape
    if escape[0] == "%":
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    if escape[1] == "u":
        return chr(int(escape[2:], 16))
    return _JSON_ESCAPES[escape[1]]


class _VisibleChars(dict[int, str | None]):
    """A table for `str.translate`, filled as characters occur."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        visible = _visible_char(char, category)
        if category not in ("Cn", "Co"):  # most of the code space: not worth keeping
            self[code] = visible
        return visible


def _visible_char(char: str, category: str) -> str | None:
    if char in _LINE_ENDS:
        return "\n"
    # Combining marks are dropped: no rule needs them, and on a long run of them NFKC takes
    # quadratic time.
    hidden = category in ("Cc", "Cf") or category[0] == "M" or _BLANK.match(char)
    if hidden and char not in "\t\n":
        return None
    # Some characters expand to whole words under NFKC and would make the text many times longer.
    return char if len(unicodedata.normalize("NFKC", char)) <= _EXPANSION_MAX else " "


_LINE_ENDS = "\x0b\x0c\x85\u2028\u2029"
# Letters and symbols without a visible glyph, and the plane of tags.
_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]")
_VISIBLE = _VisibleChars()
_ESCAPE = re.compile(
    r'(?:%[0-9A-Fa-f]{2})+|\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]'
    r"|&#(?:x(?P<hex>[0-9a-fA-F]{2,6})|(?P<number>[0-9]{2,7}));"
)
_JSON_ESCAPES = {
    "b": "",
    "f": "\n",
    "n": "\n",
    "r": "\n",
    "t": "\t",
    '"': '"',
    "\\": "\\",
    "/": "/",
}
# Three or more single characters with spaces between them: "p a s s".
_SPELLED = re.compile(r"(?<!\S)\S(?: \S){2,}(?!\S)")
_PARTED = re.compile(r"(?<![^\W_])[^\W\d_](?:[.*_|~+-][^\W\d_]){3,}(?![^\W_])")
_MARK = re.compile(r"[\W_]")
# Bold, code or a tag that begins or ends inside of a word.
_MARKUP = re.compile(r"(?<=[^\W\d_])(?:\*{1,3}|`{1,2}|~~|</?[a-z]{1,4}>)(?=[^\W\d_])")
_BREAK_IN_BASE64 = re.compile(
    r"(?<=[A-Za-z0-9_+/=.-]{8})[ \t]{0,8}\n[ \t>]{0,40}(?=[A-Za-z0-9_+/=.-]{4})"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,4000}(?:={0,2}\n[A-Za-z0-9+/_-]{20,4000}){0,20}")
_BLANKS = re.compile(r"[\s=]+")
_URL_SAFE = str.maketrans("-_", "+/")
# `69676e6f7265`, `69 67 6e`, `\x69\x67`, `0x69,0x67`.
_HEX = re.compile(r"(?:(?:\\x|0x)?[0-9a-fA-F]{2}[ ,:]{0,2}){10,4000}")
_HEX_JOINT = re.compile(r"\\x|0x|[ ,:]+")
_RUN_CHARS = 20
_RUN = re.compile(rf"[A-Za-z0-9+/_-]{{{_RUN_CHARS}}}")
# It begins with a digit, not with the `0x` before it, because that is searched for faster.
_HEX_RUN = re.compile(r"[0-9a-fA-F][0-9a-fA-F][ ,:]{0,2}(?:(?:\\x|0x)?[0-9a-fA-F]{2}[ ,:]{0,2}){9}")
