"""Finds secrets by the label before them: `password is …`, `api_key=…`, `changed to …`.

A label alone is no secret, and neither is a sentence about one: the value after it must look like
a secret. How much it must look like one depends on what stands between them.
"""

import re
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from recollect.screening.secrets.labels import (
    Label,
    LabelKind,
    compounds,
    joined_pattern,
    known_labels,
    label_pattern,
    phrase_pattern,
    places,
    to_letters,
)
from recollect.screening.secrets.values import (
    SURROUNDING,
    are_plain_words,
    has_sign,
    is_described,
    is_unmistakable,
)
from recollect.screening.secrets.words import is_function_word, is_ordinary, is_placeholder


def has_labelled_secret(view: str) -> bool:
    """Has the text a label, then a value that looks secret?"""
    text = view.translate(_STRAIGHT_QUOTES)
    labels = list(_label().finditer(text))
    # What links a label to its value ends at the next label: so each place is looked at once.
    ends = [*(one.start() for one in labels[1:]), len(text)]
    return any(
        _is_linked_secret(text, label, min(end, label.end() + _LINK_CHARS_MAX))
        for label, end in zip(labels, ends, strict=False)
        if _starts_word(text, label)
    )


def ends_in_label(name: str) -> bool:
    """Does a field's name, split at `_`, `-` and capitals, end in a label, such as `dbPassword`?"""
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    if not words:
        return False
    endings = (to_letters("".join(words[-count:])) for count in range(1, 4))
    return any(ending in _member_names() for ending in endings) or _ends_unmistakably(words[-1])


class _Link(Enum):
    """What stands between a label and its value."""

    STATED = auto()
    """`is`, `:`, `=` or `->`."""
    MOVED = auto()
    """`was changed to`."""
    LOOSE = auto()
    """A blank, a dash or `to`: the value must be unmistakable."""


class _LabelledValue(NamedTuple):
    label: Label
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
        """Everything up to the next white space, closing tag, or script without spaces."""
        found = _TOKEN.match(self.text, self.start)
        return found[0] if found else ""


def _is_linked_secret(text: str, label: re.Match[str], end: int) -> bool:
    known = known_labels()[to_letters(label[0])]
    if known.kind is LabelKind.PLACED and not _names_place(text, label):
        return False
    links = _joined_links() if label["joined"] else _links()
    found = ((pattern.match(text, label.end(), end), link) for pattern, link in links)
    if any(one and _is_secret(text, one, known, link) for one, link in found):
        return True
    # "I set the wifi password to swordfish", and the option `--password swordfish`.
    before = text[max(0, label.start() - _SETS_CHARS) : label.start()]
    moved = _TO.match(text, label.end(), end) if _SETS.search(before) else None
    if moved and _is_secret(text, moved, known, _Link.MOVED):
        return True
    option = _BLANK.match(text, label.end(), end) if before.endswith("--") else None
    return option is not None and _is_option(text[option.end() : option.end() + 200])


def _is_secret(text: str, found: re.Match[str], label: Label, link: _Link) -> bool:
    if _STANDS_FOR_ONE.match(text, found.end()):
        return False
    value = _read_value(text, found, label)
    if link is _Link.LOOSE or (found.groupdict().get("plural") and not label.digits_min):
        return _is_loose_secret(value)
    quoted = _QUOTED.match(text, value.start)
    if quoted:
        inner = next(filter(None, quoted.groups()))
        wanted = has_sign(inner) or not label.wants_sign
        return any(map(str.isalnum, inner)) and wanted and not is_placeholder(inner)
    return not is_placeholder(value.token) and _is_secret_value(value)


def _starts_word(text: str, found: re.Match[str]) -> bool:
    start, label = found.start(), found[0]
    before = text[start - 1 : start]
    if label.lower() == "passwd" and before == "/":  # the file
        return False
    if found["joined"] or not before.isalnum() or (before.islower() and label[0].isupper()):
        return True
    return label.lower() in UNMISTAKABLE


def _names_place(text: str, found: re.Match[str]) -> bool:
    """Is there a word for what a number opens, in the same line and near?"""
    line_start = text[max(0, found.start() - 60) : found.start()].rpartition("\n")[2]
    after = text[found.start() : found.end() + 60].partition("\n")[0]
    return not places().isdisjoint(_WORDS.findall(f"{line_start}{after}".lower()))


def _read_value(text: str, found: re.Match[str], label: Label) -> _LabelledValue:
    parts = found.groupdict()
    wrapped = "\n" in (parts.get("gap") or "")
    return _LabelledValue(
        label=label,
        verb=parts.get("verb"),
        glued=parts.get("sep") == "=" and not parts.get("gap"),
        wrapped=wrapped,
        near=not wrapped and parts.get("reach") is None,
        text=text,
        start=found.end(),
    )


def _is_loose_secret(value: _LabelledValue) -> bool:
    core = value.token.strip(SURROUNDING)
    if value.label.digits_min:
        digits = _DIGIT_GROUPS.match(value.text, value.start)
        count = sum(map(str.isdigit, digits[0])) if digits else 0
        is_measure = _MEASURE.match(value.text, value.start) is not None
        number = value.label.loose_min <= count <= 10 and _ends_number(value, digits)
        return (number and not is_measure) or _CODE_GROUPS.match(
            value.text, value.start
        ) is not None
    if value.label.wants_sign and value.label.kind is not LabelKind.SHORT:
        return False
    if is_placeholder(value.token) or _is_description(value, core):
        return False
    if value.near and _QUOTED_TOKEN.match(value.text, value.start):
        return len(core) >= 4
    return is_unmistakable(core)


def _is_option(rest: str) -> bool:
    """Is it the value of an option of a command?"""
    word = _OPTION.match(rest)
    return word is not None and not (is_placeholder(word[0]) or is_function_word(word[0]))


def _ends_number(value: _LabelledValue, digits: re.Match[str] | None) -> bool:
    return digits is not None and not value.text[digits.end() : digits.end() + 1].isalnum()


def _is_secret_value(value: _LabelledValue) -> bool:
    # Order matters: labels of numbers (PIN, CVV) want digits; a passphrase may look like prose, so
    # it is checked before sentences about the secret are sorted out; what remains counts if it
    # can't be a word of prose, or if it is a single word that ends the sentence.
    core = value.token.strip(SURROUNDING)
    if value.label.digits_min:
        return _is_number(value, value.label.digits_min) or _is_mixed(value, core)
    if not any(map(str.isalnum, core)):
        return False
    if _is_phrase(value):
        return True
    if _is_description(value, core):
        return False
    if value.label.wants_sign:
        return has_sign(core) and not (core.isdigit() and len(core) < 6)
    return _is_strong(value, core) or (value.near and _is_last_word(value, core))


def _is_number(value: _LabelledValue, digits_min: int) -> bool:
    digits = _DIGIT_GROUPS.match(value.text, value.start)
    return digits is not None and sum(map(str.isdigit, digits[0])) >= digits_min


def _is_mixed(value: _LabelledValue, core: str) -> bool:
    """Letters with a digit among them, which no word of prose has."""
    bare = core.replace("-", "")
    mixed = bare.isalnum() and not bare.isdigit() and any(map(str.isdigit, bare))
    return mixed and not _ORDINAL_OR_UNIT.fullmatch(core) and not _is_description(value, core)


def _is_phrase(value: _LabelledValue) -> bool:
    """Do three or more plain words follow that are no sentence about the phrase?

    Such a sentence begins with an ordinary word ("stored in the vault"), and most of its words
    are ordinary.
    """
    if value.label.kind is LabelKind.PHRASE and _LISTED_WORDS.match(value.text, value.start):
        return True
    found = _PLAIN_WORDS.match(value.text, value.start)
    words = [word.strip(",") for word in found[0].split()] if found else []
    if value.label.kind is LabelKind.PLAIN:
        # A password may be a phrase too, if nothing else stands in its sentence.
        ended = found is not None and _LAST.match(value.text, found.end()) is not None
        plainly = value.verb is None or value.verb.lower() == "is"
        return plainly and value.near and ended and are_plain_words(words, least=3)
    if value.label.kind is not LabelKind.PHRASE or len(words) < 3:
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
    return is_described(core) or _is_name(value, core)


def _is_name(value: _LabelledValue, core: str) -> bool:
    """Is the value the name of a variable, header or field that holds the secret?"""
    if any(map(str.isdigit, core)) or not ends_in_label(core):
        return False
    compound = bool(_NAME_JOINT.search(core)) or (core[0].islower() and not core.islower())
    return compound or (value.verb is None and to_letters(core) in _member_names())


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


@cache
def _member_names() -> frozenset[str]:
    """The labels that make a member of a record a secret by its name."""
    kinds = known_labels().items()
    return frozenset(words for words, label in kinds if label.names_member)


def _ends_unmistakably(word: str) -> bool:
    """Does a word end in a label that ends no other word, as `mypassword` does?"""
    letters = to_letters(word)
    return any(letters.endswith(one) for one in UNMISTAKABLE)


@cache
def _label() -> re.Pattern[str]:
    """A label, with the name of its kind of script."""
    spaced = rf"(?P<spaced>{label_pattern()})(?=s?\d{{0,2}}(?![^\W_]))"
    return re.compile(rf"{spaced}|(?P<joined>{joined_pattern()})", re.IGNORECASE)


@cache
def _links() -> tuple[tuple[re.Pattern[str], _Link], ...]:
    """How a label may be linked to its value, each with a pattern from the end of the label to
    where the value begins."""
    reach = phrase_pattern("reach")
    no_other = rf"(?!(?:{'|'.join(compounds())})\b)"
    away = rf"(?P<reach>[ \t]+(?:{reach})(?![^\W_])[^\n.:;=?!]{{0,60}}?)?"
    second = rf"(?P<reach>[ \t]+{no_other}[^\W\d_]{{2,20}}){{0,2}}"
    other = rf"(?P<reach>[ \t]+{no_other}[^\n.:;=?!]{{1,60}}?)"
    verbs, moved = phrase_pattern("verbs"), phrase_pattern("moved")
    linked = rf"(?P<sep>\s+(?P<verb>{verbs})(?![^\W_]){_FOLLOWS}[ \t]*:?|[ \t]*{_SIGN})"
    gap = rf"[*_`]{{0,2}}(?P<gap>[ \t]*(?:\n[ \t]*)?){_FILLERS}"
    patterns = (
        (rf"{away}\s+{_CHANGES}(?:{moved})(?![^\W_])[ \t]*:?{gap}", _Link.MOVED),
        (rf"{away}{linked}{gap}", _Link.STATED),
        (rf"{second}[ \t]*{_SIGN}{gap}", _Link.LOOSE),
        (rf"{other}[ \t]+(?:is|was|ist|est|es|é|è)[ \t]+", _Link.LOOSE),
        (rf"{away}(?:[ \t]+(?:{_INTO})[ \t]+|[ \t]+[-–—][ \t]+|[/|])", _Link.LOOSE),
        (rf"(?:'s)?[ \t]+{_FILLERS}", _Link.LOOSE),
        (rf"[^\n.?!:;=]{{0,40}}?[,.;][ ]{_CONTINUES}[ \t]+", _Link.LOOSE),
    )
    return tuple((_compile(f"{_LABEL_END}{rest}"), link) for rest, link in patterns)


@cache
def _joined_links() -> tuple[tuple[re.Pattern[str], _Link], ...]:
    """The same in scripts that put no space between words."""
    verbs = phrase_pattern("joined verbs")
    linked = rf"(?:[ ]?\([^()\n]{{1,20}}\))?\s*(?P<sep>(?P<verb>{verbs})|{_SIGN})\s?"
    return (_compile(linked), _Link.STATED), (_compile(r"\s?"), _Link.LOOSE)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_LINK_CHARS_MAX = 240
_SETS_CHARS = 60
# These end no other word, so that `mypassword` is one of them and `hairpin` is not.
UNMISTAKABLE = (
    *("apikey", "secretkey", "accesskey", "accesstoken", "authtoken", "refreshtoken"),
    *("clientsecret", "password", "passwd", "passcode", "passphrase", "securitycode"),
    *("routingnumber", "seedphrase", "passwort", "kennwort", "pwd", "wachtwoord"),
)
_LABEL_END = r"(?P<plural>s)?\d{0,2}(?![^\W_])[\"'`*_)\]]{0,4}(?:[ ]\([^()\n]{1,40}\))?"
_FOLLOWS = r"(?:[ ]as[ ]follows|[ ]the[ ]following)?"
_CHANGES = r"(?:(?:is|was|has|have|had|got|been|be|just|now|recently|again|i|we|they)\s+){0,4}"
_FILLERS = (
    r"(?:(?:now|still|actually|currently|just|simply|really|probably|literally|set[ ]to|jetzt|nun"
    r"|ahora|maintenant|agora|ora|adesso)[ \t]+){0,2}"
)
_SETS = re.compile(
    r"\b(?:set|sets|setting|chang(?:e|es|ed|ing)|reset|update[sd]?|rotate[sd]?|switch(?:ed)?)"
    r"[ \t][^\n.:;=?!]{0,40}$",
    re.IGNORECASE,
)
_TO = re.compile(
    r"(?P<reach>[ \t]+(?:for|of|on|at|in)[ \t][^\n.:;=?!]{1,40}?)?[ \t]+to[ \t]+", re.IGNORECASE
)
_BLANK = re.compile(r"[ \t]+")
_OPTION = re.compile(r"[^\s<\[{$-]\S{2,200}")
_QUOTED_TOKEN = re.compile(r"([\"'`])[^\s\"'`]{4,100}\1(?!\w)")
_SIGN = r"(?::=|={1,3}>?|:(?!:|//)|-{1,2}>|→|>(?=[^\s<>]{1,200}</))"
_CONTINUES = "(?:it's|it is|its|it was|which is|that's|es ist|es lautet|c'est|è)"
_INTO = "to|auf|en|para|a|zu"
_STRAIGHT_QUOTES = str.maketrans("“”„‟«»‘’‚‛「」『』", '""""""\'\'\'\'""""')
_QUOTED = re.compile(
    r"[\[(]?(?:\"([^\s\"),;\]}.:][^\"\n]{0,200})\""
    r"|'([^\s'),;\]}.:][^\n]{0,200}?)'(?!\w)"
    r"|`([^\s`),;\]}.:][^`\n]{0,200})`)"
)
_TOKEN = re.compile(r"(?:[^\s<\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]|<(?!/)){1,200}")
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
    r"|hours?|hrs?|days?|weeks?|months?|years?|times?|lines?|euros?|attempts?|tries|percent|%|of"
    r"|zeichen|stellen"
    r"|ziffern|tagen?|caract[eè]res|chiffres|jours|caracteres|d[ií]gitos|d[ií]as|caratteri|cifre"
    r"|giorni|dias)(?![^\W_])",
    re.IGNORECASE,
)
_ORDINAL_OR_UNIT = re.compile(r"\d+[A-Za-zµ]{1,3}|\w{1,2}")
_DIGIT_GROUPS = re.compile(r"[#(]?\d(?:[ -]?\d){0,30}")
# `ABCD-EFGH-1234`
_CODE_GROUPS = re.compile(r"(?=\S{0,30}\d)[A-Za-z0-9]{4,6}(?:-[A-Za-z0-9]{4,6}){1,7}(?![\w-])")
_CLOSERS = r"[\"'`*_)\]}>]{0,4}"
# The end of a sentence, after one more piece of the value if that holds a digit.
_LAST = re.compile(
    rf"(?:[ ](?=\S{{0,20}}\d)[^\s.,;!?]{{1,20}})?{_CLOSERS}[ \t]{{0,8}}"
    rf"(?:[.!;…。！]+{_CLOSERS}(?:\s|$)|\n|</|$)"
)
_LISTED_WORDS = re.compile(r"(?:\d{1,2}[.):]?\s{0,2}[^\W\d_]{2,12}[,;\s]{1,3}){3}")
_PLAIN_WORDS = re.compile(r"(?:[^\W\d_]+(?:'[^\W\d_]+)?,?[ ]?){1,40}")
_WORDS = re.compile(r"[^\W\d_]+")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
