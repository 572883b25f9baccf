"""A text without its disguises, for rules that match what a reader would see.

Nothing here is stored: what is found in a view of a text is said of the text as it was sent.
"""

import re
import unicodedata

_DECODINGS_MAX = 3
_EXPANSION_MAX = 4


def views(text: str) -> tuple[str, ...]:
    """The text as it is meant: plain, with escapes decoded, with spelled-out words closed up.

    The first view is the plain text; a further one is there only if it differs. All of them are
    needed: a decoded `%2F` ends a password in a URL that the undecoded text shows whole.
    """
    seen = [plain(text)]
    for _ in range(_DECODINGS_MAX):
        seen.append(plain(_decoded(seen[-1])))
        if seen[-1] == seen[-2]:
            break
    seen.append(_SPELLED.sub(lambda found: found[0].replace(" ", ""), seen[-1]))
    return tuple(dict.fromkeys(seen))


def plain(text: str) -> str:
    """NFKC, without the characters that show nothing; every line ends in a line feed."""
    return unicodedata.normalize("NFKC", text.translate(_VISIBLE))


def joined(view: str) -> str:
    """The text with the line breaks removed that lie inside base64, or might."""
    return _BREAK_IN_BASE64.sub("", view)


def _decoded(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    escape = found[0]
    if escape[0] == "%":
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    if escape[1] == "u":
        return chr(int(escape[2:], 16))
    return _JSON_ESCAPES[escape[1]]


class _Visible(dict[int, str | None]):
    """What each character is to a reader; filled as characters are met."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        shown = _shown(char, category)
        if category not in ("Cn", "Co"):  # most of the code space: not worth keeping
            self[code] = shown
        return shown


def _shown(char: str, category: str) -> str | None:
    if char in _LINE_ENDS:
        return "\n"
    # Marks go too: no rule needs them, and a long run of them makes NFKC take quadratic time.
    hidden = category in ("Cc", "Cf") or category[0] == "M" or _BLANK.match(char)
    if hidden and char not in "\t\n":
        return None
    # Signs that stand for whole words would make the text many times longer.
    return char if len(unicodedata.normalize("NFKC", char)) <= _EXPANSION_MAX else " "


_LINE_ENDS = "\x0b\x0c\x85\u2028\u2029"
# Letters and symbols that draw nothing, and the plane of tags.
_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]")
_VISIBLE = _Visible()
_ESCAPE = re.compile(r'(?:%[0-9A-Fa-f]{2})+|\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]')
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
_SPELLED = re.compile(r"(?<!\S)\S(?: \S){2,}(?!\S)")
_BREAK_IN_BASE64 = re.compile(
    r"(?<=[A-Za-z0-9_+/=.-]{8})[ \t]{0,8}\n[ \t>]{0,40}(?=[A-Za-z0-9_+/=.-]{4})"
)
