"""Finds secrets by the label before them: `password is …`, `api_key=…`.

A label alone is no secret, and neither is a sentence about one: the value after it must look like
a secret.
"""

import re
from typing import NamedTuple

from recollect.screening.secrets.words import (
    is_function_word,
    is_ordinary,
    is_placeholder,
)


def has_labelled_secret(view: str) -> bool:
    """Has the text a label, then `is`, `:`, `=` or `->`, then a value that looks secret?"""
    text = view.translate(_STRAIGHT_QUOTES)
    return any(_is_secret(text, found) for found in _LABELLED.finditer(text))


def ends_in_label(name: str) -> bool:
    """Does a field's name, split at `_`, `-` and capitals, end in a label, such as `dbPassword`?"""
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    if not words:
        return False
    endings = ("".join(words[-count:]) for count in range(1, 4))
    return any(ending in _NAMES for ending in endings) or words[-1].endswith(_UNMISTAKABLE)


class _LabelledValue(NamedTuple):
    label: str
    """In lower case, without spaces, `_` and `-`."""
    verb: str | None
    """The word `is` as it was written, if that is what separates."""
    glued: bool
    """`label=value` without blanks, as in code, never in prose."""
    wrapped: bool
    """The value is on the next line."""
    near: bool
    """No words stand between label and separator, and the value is on the same line."""
    text: str
    start: int

    @property
    def token(self) -> str:
        """Everything up to the next white space."""
        found = _TOKEN.match(self.text, self.start)
        return found[0] if found else ""


def _is_secret(text: str, found: re.Match[str]) -> bool:
    if not _starts_word(text, found) or _STANDS_FOR_ONE.match(text, found.end()):
        return False
    value = _read_value(text, found)
    quoted = _QUOTED.match(text, value.start)
    if quoted:
        inner = next(filter(None, quoted.groups()))
        return any(map(str.isalnum, inner)) and not is_placeholder(inner)
    return not is_placeholder(value.token) and _is_secret_value(value)


def _starts_word(text: str, found: re.Match[str]) -> bool:
    start, label = found.start(), found["label"]
    before = text[start - 1 : start]
    if label.lower() == "passwd" and before == "/":  # the file
        return False
    if not before.isalnum() or (before.islower() and label[0].isupper()):
        return True
    return label.lower() in _UNMISTAKABLE


def _read_value(text: str, found: re.Match[str]) -> _LabelledValue:
    wrapped = "\n" in found["gap"]
    return _LabelledValue(
        label=_JOINER.sub("", found["label"]).lower(),
        verb=found["verb"],
        glued=found["sep"] == "=" and not found["gap"],
        wrapped=wrapped,
        near=not wrapped and found["reach"] is None,
        text=text,
        start=found.end(),
    )


def _is_secret_value(value: _LabelledValue) -> bool:
    # Order matters: labels of numbers (PIN, CVV) want digits; a passphrase may look like prose, so
    # it is checked before sentences about the secret are sorted out; what remains counts if it
    # can't be a word of prose, or if it is a single word that ends the sentence.
    core = value.token.strip(_SURROUNDING)
    if digits_min := _DIGITS_MIN.get(value.label):
        return _is_number(value, digits_min) or _is_mixed(value, core)
    if not any(map(str.isalnum, core)):
        return False
    if _is_phrase(value):
        return True
    if _is_description(value, core):
        return False
    return _is_strong(value, core) or (value.near and _is_last_word(value, core))


def _is_number(value: _LabelledValue, digits_min: int) -> bool:
    digits = _DIGIT_GROUPS.match(value.text, value.start)
    return digits is not None and sum(map(str.isdigit, digits[0])) >= digits_min


def _is_mixed(value: _LabelledValue, core: str) -> bool:
    """Letters with a digit among them, which no word of prose has."""
    mixed = core.isalnum() and not core.isdigit() and any(map(str.isdigit, core))
    return mixed and not _ORDINAL_OR_UNIT.fullmatch(core) and not _is_description(value, core)


def _is_phrase(value: _LabelledValue) -> bool:
    """Do three or more plain words follow that are no sentence about the phrase?

    Such a sentence begins with an ordinary word ("stored in the vault"), and most of its words
    are ordinary.
    """
    if value.label not in ("passphrase", "seedphrase"):
        return False
    found = _PLAIN_WORDS.match(value.text, value.start)
    words = [word.strip(",") for word in found[0].split()] if found else []
    if len(words) < 3:
        return False
    meaning = [word for word in words if not (is_ordinary(word) or is_function_word(word))]
    if len(meaning) * 3 >= len(words) * 2 or (value.near and words[0] in meaning):
        return True
    return len(meaning) * 2 >= len(words) and not any(map(is_function_word, words))


def _is_description(value: _LabelledValue, core: str) -> bool:
    """Does the value describe the secret: its length, its type, where it is read from?"""
    if _MEASURE.match(value.text, value.start) or _REFERENCE.match(value.token):
        return True
    if value.wrapped and _NEXT_LINE.match(value.token):
        return True
    return is_ordinary(_HEAD.split(core, maxsplit=1)[0]) or _is_name(value, core)


def _is_name(value: _LabelledValue, core: str) -> bool:
    """Is the value the name of a variable, header or field that holds the secret?"""
    if any(map(str.isdigit, core)) or not ends_in_label(core):
        return False
    compound = bool(_NAME_JOINT.search(core)) or (core[0].islower() and not core.islower())
    return compound or (value.verb is None and core.lower() in _NAMES)


def _is_strong(value: _LabelledValue, core: str) -> bool:
    """Is it no word of prose, because it has a digit, a symbol or an inner capital?"""
    if any(map(str.isdigit, core)):
        return True
    parts = _PROSE_JOINT.split(core) if value.verb else core.split("'")
    if not all(map(str.isalpha, parts)) or len(parts) > 2:
        return True
    if len(parts) == 2 and "'" not in core and min(map(len, parts)) < 3:  # sk-…
        return True
    shouted = value.verb == "IS" and core.isupper()
    return not shouted and any(map(str.isupper, core[1:]))


def _is_last_word(value: _LabelledValue, core: str) -> bool:
    """Does a plain word end its sentence, or one word and a number?"""
    end = value.start + value.token.index(core) + len(core)
    return value.glued or _LAST.match(value.text, end) is not None


_J = r"[\s_-]{0,3}"
_JOINER = re.compile(r"[\s_-]+")
_LABEL_WORDS = (
    "api key",
    "secret key",
    "access key",
    "access token",
    "auth token",
    "refresh token",
    "client secret",
    "pass word",
    "passwd",
    "pwd",
    "pass code",
    "pass phrase",
    "pin number",
    "pin",
    "security code",
    "cvv",
    "routing number",
    "seed phrase",
)
_NAMES = frozenset(words.replace(" ", "") for words in _LABEL_WORDS)
# One of these is in every text that holds a label.
LABEL_HINTS = tuple(sorted({words.split()[0] for words in _LABEL_WORDS}))
# These end no other word, so that `mypassword` is one of them and `hairpin` is not.
_UNMISTAKABLE = tuple(_NAMES - {"pin", "cvv", "pinnumber"})
_DIGITS_MIN = {"pin": 3, "pinnumber": 3, "cvv": 3, "routingnumber": 4}
_LABEL = "|".join(words.replace(" ", _J) for words in _LABEL_WORDS)
_LABELLED = re.compile(
    r"(?=[acprs])"  # the first letters of the labels: four times as fast
    rf"(?P<label>{_LABEL})\d{{0,2}}(?![^\W_])"
    r"[\"'`*_)\]]{0,4}(?:[ ]\([^()\n]{1,40}\))?"
    r"(?P<reach>[ \t]+(?:for|to|of|on)[ \t]+[^\n.:;=?!]{1,60}?)?"
    r"(?P<sep>\s+(?P<verb>is)(?![^\W_])(?:[ ]as[ ]follows|[ ]the[ ]following)?[ \t]*:?"
    r"|[ \t]*(?::=|={1,3}>?|:(?!:|//)|-{1,2}>|→))"
    r"[*_`]{0,2}(?P<gap>[ \t]*(?:\n[ \t]*)?)"
    r"(?:(?:now|still|actually|currently|just|simply|really|probably|set[ ]to)[ \t]+){0,2}",
    re.IGNORECASE,
)
_STRAIGHT_QUOTES = str.maketrans("“”„‟«»‘’‚‛", '""""""\'\'\'\'')
_QUOTED = re.compile(
    r"[\[(]?(?:\"([^\s\"),;\]}.:][^\"\n]{0,200})\""
    r"|'([^\s'),;\]}.:][^\n]{0,200}?)'(?!\w)"
    r"|`([^\s`),;\]}.:][^`\n]{0,200})`)"
)
_TOKEN = re.compile(r"\S{1,200}")
_SURROUNDING = "\"'`*_~.,;:!?()[]{}<>…。、！？"
_HEAD = re.compile(r"[,;&|)]")
_PROSE_JOINT = re.compile(r"['/-]")
# An object of JSON, an address on the web, a file, a folder of the shell.
_STANDS_FOR_ONE = re.compile(
    r"\{\s*[\"'\n}]|\{$|https?://|~/|\.{0,2}/(?:home|Users|etc|run|var|opt|usr|tmp|root|mnt|srv)\b"
    r"|[A-Za-z]:\\"
)
_REFERENCE = re.compile(
    r"[A-Za-z_]\w*(?:\.\w+)*\(|[A-Za-z_]+(?:\.[A-Za-z_]+)*\["
    r"|(?:self|this|os|env|process|config|settings|args|request|options|params|secrets|vault)\."
)
_NAME_JOINT = re.compile(r"[A-Za-z][._-]")
_NEXT_LINE = re.compile(r"\d{1,2}[.)]$|\S*:$")
_MEASURE = re.compile(
    r"\d{1,3}(?:[ ]?(?:-|–|to|or)[ ]?\d{1,3})?\+?[ -]?"
    r"(?:characters?|chars?|digits?|letters?|words?|symbols?|bytes?|bits?|seconds?|minutes?|mins?"
    r"|hours?|hrs?|days?|weeks?|months?|years?|times?|attempts?|tries|percent|%|of)(?![^\W_])",
    re.IGNORECASE,
)
_ORDINAL_OR_UNIT = re.compile(r"\d+[A-Za-zµ]{1,3}|\w{1,2}")
_DIGIT_GROUPS = re.compile(r"[#(]?\d(?:[ -]?\d){0,30}")
_CLOSERS = r"[\"'`*_)\]}>]{0,4}"
# The end of a sentence, after one more piece of the value if that holds a digit.
_LAST = re.compile(
    rf"(?:[ ](?=\S{{0,20}}\d)[^\s.,;!?]{{1,20}})?{_CLOSERS}[ \t]{{0,8}}"
    rf"(?:[.!;…。！]+{_CLOSERS}(?:\s|$)|\n|$)"
)
_PLAIN_WORDS = re.compile(r"(?:[^\W\d_]+(?:'[^\W\d_]+)?,?[ ]?){1,40}")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
