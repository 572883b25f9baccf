"""Detects invisible characters, which a reader doesn't see and a model does.

Single joiners belong to many scripts and to emoji, and direction marks to texts that mix scripts.
No writer types a run of them, a tag character, or a direction override: those are signs.
"""

import re

from recollect.screening.injection.signs import STRONG, WEAK

_SPLIT_WORDS_MIN = 5


def hidden_weight(text: str) -> float:
    """The weight of the hidden characters of a text as a sign; 0 without any."""
    if text.isascii():
        return 0.0
    seen = _FLAG.sub("", text)
    if any(pattern.search(seen) for pattern in _HIDING):
        return STRONG
    splits = sum(1 for _ in _SPLIT_WORD.finditer(seen))
    if splits >= _SPLIT_WORDS_MIN:
        return STRONG
    return WEAK if splits or _SHORT_RUN.search(seen) else 0.0


_INVISIBLE = "\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
# The flags of England, Scotland and Wales are a black flag and tag characters: not a sign.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_HIDING = (
    re.compile("[\U000e0000-\U000e007f]"),
    re.compile(f"[{_INVISIBLE}]{{5}}"),
    re.compile("\u202e"),
    # A left-to-right override. Address books put telephone numbers into one, so only one that
    # contains a letter counts.
    re.compile("\u202d[^\u202c\n]{0,80}[^\\W\\d_]"),
)
_SHORT_RUN = re.compile(f"[{_INVISIBLE}]{{4}}")
# No joiner belongs between two Latin letters; a soft hyphen may, so it is not in this class.
_SPLIT_WORD = re.compile("(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff](?=[A-Za-z])")
