"""Porter's stemmer: maps English words with a common stem to one form for ranking.

The algorithm of 1980 with its author's later corrections (words of two letters stay, "bli" and
"logi" in step 2). It is coarse, but well known and comparable with other systems.
"""

from collections.abc import Sequence

Rules = Sequence[tuple[str, str]]


def porter_stem(word: str) -> str:
    """The stem of a word, which must consist of lower-case ASCII letters."""
    if len(word) <= 2:
        return word
    word = _replace_final_y(_strip_ed_or_ing(_strip_plural(word)))
    word = _replace_suffix(word, _STEP_2, measure_min=1)
    word = _replace_suffix(word, _STEP_3, measure_min=1)
    return _strip_double_l(_strip_final_e(_strip_suffix(word)))


def _strip_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _strip_ed_or_ing(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word:
            return _repair_stem(stem) if "v" in _letter_pattern(stem) else word
    return word


def _repair_stem(stem: str) -> str:
    """Undo changes before "ed" and "ing": hop(p)ing, fil(e)ing, conflat(e)d."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double(stem) and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _replace_final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _letter_pattern(word[:-1]) else word


def _replace_suffix(word: str, rules: Rules, *, measure_min: int) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + replacement if _measure(stem) >= measure_min else word
    return word


def _strip_suffix(word: str) -> str:
    # In step 4 "ion" is a suffix only after s or t.
    if word.endswith("ion") and not word.endswith(("sion", "tion")):
        return word
    return _replace_suffix(word, _STEP_4, measure_min=2)


def _strip_final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    stem = word[:-1]
    measure = _measure(stem)
    return stem if measure > 1 or (measure == 1 and not _ends_short(stem)) else word


def _strip_double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _letter_pattern(stem: str) -> str:
    """The stem as c (consonant) and v (vowel); y is a vowel after a consonant."""
    shape = ""
    for letter in stem:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """Porter's measure m: how often a consonant follows a vowel, about the number of syllables."""
    return _letter_pattern(stem).count("vc")


def _ends_double(stem: str) -> bool:
    return len(stem) > 1 and stem[-1] == stem[-2] and _letter_pattern(stem).endswith("c")


def _ends_short(stem: str) -> bool:
    """Porter's *o: ends in consonant, vowel, consonant, the last not w, x or y: hop, fil."""
    return _letter_pattern(stem).endswith("cvc") and stem[-1] not in "wxy"


def _parse_rules(table: str) -> Rules:
    """Parse "suffix:replacement" pairs. Longest suffix first, because the longest match applies."""
    pairs = [rule.partition(":")[::2] for rule in table.split()]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


_STEP_2 = _parse_rules(
    """
    ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous
    ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive
    biliti:ble logi:log
    """
)
_STEP_3 = _parse_rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = _parse_rules(
    """
    al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive:
    ize:
    """
)
