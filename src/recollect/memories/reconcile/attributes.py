"""Parses the single-valued attribute that a statement states, such as "home: Porto".

English sentences are matched by their form. A text that says more than one thing, or says it in an
unknown form, has no attribute. That is the safe side: without an attribute nothing is replaced.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from recollect.memories.reconcile import attribute_values as values
from recollect.memories.reconcile.attribute_words import (
    ATTRIBUTE_NOUNS,
    DETERMINERS,
    DISLIKES,
    FAVOURITE_NOUNS,
    LIKES,
    MARITAL_STATES,
    PRONOUNS,
)
from recollect.memories.reconcile.details import (
    many_valued_nouns,
    strip_lead_in,
    unify_spelling,
)
from recollect.text import english
from recollect.text.tokens import tokens

TEXT_CHARS_MAX = 300
VALUE_WORDS_MAX = 8


@dataclass(frozen=True, slots=True)
class StatedAttribute:
    """One attribute with its value, both normalised.

    `name` includes the owner if that is not the person: "sister home". `subject_hint` is the
    person's name if the text has one; None for "I", "she" or nothing. `negated`: the text denies
    the value.
    """

    name: str
    value: str
    subject_hint: str | None = None
    negated: bool = False


def parse_attribute(text: str) -> StatedAttribute | None:
    """The attribute that a text states; None if it states anything else or anything more."""
    if len(text) > TEXT_CHARS_MAX:
        return None
    plain = _expand_contractions(strip_lead_in(unify_spelling(text))).rstrip(".! ")
    if _SEVERAL_STATEMENTS.search(plain):
        return None
    return next(filter(None, (read(plain) for read in _READERS)), None)


def is_incompatible(a: StatedAttribute, b: StatedAttribute) -> bool:
    """Whether both can't be true at once: one attribute with two values, or a value and its denial.

    A value that only adds words ("Porto, Portugal" after "Porto") agrees. Two denials agree too.
    """
    if a.name != b.name:
        return False
    first, second = set(a.value.split()), set(b.value.split())
    agree = first <= second or second <= first
    if a.negated != b.negated:
        return agree
    return not agree and not a.negated


def is_many_valued(text: str) -> bool:
    """Whether a text is about pets, children, siblings or friends, of which a person has many."""
    attribute = parse_attribute(text)
    return bool(many_valued_nouns(text if attribute is None else _owner_words(attribute)))


def is_same_person(a: str | None, b: str | None) -> bool:
    """Whether two names may mean one person: they share a word, or one of them is missing."""
    return a is None or b is None or not set(a.split()).isdisjoint(b.split())


def _owner_words(attribute: StatedAttribute) -> str:
    """The attribute's name without its topic: "dog attitude" of "dog attitude:fish"."""
    return attribute.name.partition(":")[0]


def _expand_contractions(text: str) -> str:
    for short, full in _SHORT_FORMS:
        text = short.sub(full, text)
    return text


def _read_favourite(text: str) -> StatedAttribute | None:
    forms = (_FAVOURITE, _FAVOURITE_LAST, _FAVOURITE_SHORT)
    found = next(filter(None, (_full_match(form, text) for form in forms)), None)
    if found is None:
        return None
    return _build_attribute(
        found["who"],
        f"favourite:{values.normalise(found['noun'])}",
        values.normalise(found["value"]),
    )


def _read_noun(text: str) -> StatedAttribute | None:
    """ "My phone number is …", "the name of my boat is …"."""
    found = _full_match(_NOUN, text) or _full_match(_NOUN_OF, text)
    if found is None:
        return None
    name = ATTRIBUTE_NOUNS[found["noun"].lower()]
    value = values.normalise_noun_value(name, found["value"])
    return _build_attribute(found["who"], name, value, negated=bool(found["not"]))


def _read_attitude(text: str) -> StatedAttribute | None:
    found = _full_match(_LIKING, text) or _full_match(_FONDNESS, text)
    if found is None:
        return None
    denied = bool(found["not"])
    hates = found["verb"].lower() in DISLIKES | {"can not stand"}
    # Who says "I don't like it" dislikes it; "I don't hate it" is less than liking.
    value = "dislike" if hates or denied else "like"
    return _topic_attribute("attitude", found, value, negated=hates and denied)


def _read_allergy(text: str) -> StatedAttribute | None:
    found = _full_match(_ALLERGY, text)
    return _topic_attribute("allergy", found, "yes", negated=bool(found["not"])) if found else None


def _topic_attribute(
    kind: str, found: re.Match[str], value: str, *, negated: bool
) -> StatedAttribute | None:
    """An attribute with one value for each topic: "allergy:nuts", "attitude:mayo"."""
    if english.STOP_WORDS.issuperset(tokens(found["value"])):
        return None
    return _build_attribute(
        found["who"], f"{kind}:{values.normalise(found['value'])}", value, negated=negated
    )


def _make_reader(
    name: str, verbs: str, *, value_of: Callable[[str], str | None]
) -> Callable[[str], StatedAttribute | None]:
    """A parser for sentences of the form owner, verbs, value."""
    form = _sentence_pattern(rf"{_BE}{_NOT}{_OFTEN}{verbs}")

    def read(text: str) -> StatedAttribute | None:
        found = _full_match(form, text)
        if found is None:
            return None
        return _build_attribute(
            found["who"], name, value_of(found["value"]), negated=bool(found["not"])
        )

    return read


def _build_attribute(
    who: str | None, name: str, value: str | None, *, negated: bool = False
) -> StatedAttribute | None:
    """The attribute with its owner; None if owner or value can't be compared."""
    owner = _parse_owner(who or "")
    if not value or owner is None or len(value.split()) > VALUE_WORDS_MAX:
        return None
    person, thing = owner
    return StatedAttribute(f"{thing} {name}".strip(), value, person or None, negated)


def _parse_owner(who: str) -> tuple[str, str] | None:
    """Person and thing of "I" ("", ""), "Ann" ("ann", ""), "my dog" ("", "dog"), "Ann's sister"
    ("ann", "sister"). None if the words name neither."""
    words = who.lower().replace("'s", " 's").rstrip("'").split()
    if not words or words in (["the", "user"], ["the", "user", "'s"]):
        return "", ""
    if words[0] in _UNRESOLVED_PRONOUNS:
        return None
    if words[0] in PRONOUNS | DETERMINERS:
        return _parse_thing(words[1:], needs_owner=words[0] in DETERMINERS)
    place = words.index("'s") if "'s" in words else len(words)
    person, thing = _join_noun(words[:place]), _join_noun(words[place + 1 :])
    if thing is None or not person:
        return None
    return ("", f"{person} {thing}".rstrip()) if many_valued_nouns(person) else (person, thing)


def _parse_thing(words: list[str], *, needs_owner: bool) -> tuple[str, str] | None:
    thing = _join_noun(words)
    return None if thing is None or (thing and not needs_owner) else ("", thing)


def _join_noun(words: list[str]) -> str | None:
    """The words of a name or thing as one string; None if a word can't be part of one."""
    kept = [word.lstrip("@") for word in words if word != "'s"]
    if any(word in english.STOP_WORDS or word in _NON_NOUNS for word in kept):
        return None
    return " ".join(kept)


def _sentence_pattern(pattern: str) -> str:
    return rf"(?:{_WHO} )?{_OFTEN}{pattern}{_LATELY}"


def _full_match(form: str, text: str) -> re.Match[str] | None:
    return _compile_pattern(form).fullmatch(text)


@cache
def _compile_pattern(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)


_UNRESOLVED_PRONOUNS = frozenset(("it", "its", "this", "that"))
_NON_NOUNS = frozenset(
    ("used", "said", "says", "told", "thinks", "heard", "want", "wants", "plan", "plans", "never")
)
# Signs of more than one statement: another sentence, a clause, or a list.
_SEVERAL_STATEMENTS = re.compile(
    r"[.!?;] |\?|\b(?:and|but|because|although|though|while|which|who|if|when|unless|or)\b",
    re.IGNORECASE,
)
_SHORT_FORMS = tuple(
    (re.compile(short, re.IGNORECASE), full)
    for short, full in (
        (r"\b(i)'m\b", r"\1 am"),
        (r"\b(he|she|it)'s\b", r"\1 is"),
        (r"\b(they|we)'re\b", r"\1 are"),
        (r"\b(i|they|we)'ve\b", r"\1 have"),
        (r"\b(\w+)'(?:d|ll)\b", r"\1 would"),
        (r"\b(?:can't|cannot|cant)\b", "can not"),
        (r"\b(do|does|is|are|has|have)n'?t\b", r"\1 not"),
        (r"\bno longer\b", "not"),
        # "Rex, not Max" states Rex. What it denies is read by `denied_part`.
        (r", not [^,.;]{1,60}$", ""),
    )
)
_WHO = r"(?P<who>@?[^\s,;:]+(?: [^\s,;:]+){0,3}?)"
_OFTEN = r"(?:(?:really|now|currently|just|recently|newly|absolutely|actually|still|also) )*"
_LATELY = (
    r"(?:,? (?:now|currently|these days|at the moment|any ?more|too|a lot|very much|so much"
    r"|since [\w ]{1,20}))?"
)
_BE = r"(?:(?:am|is|are|have|has) )?"
_NOT = r"(?P<not>(?:(?:do|does) )?not )?"
_VALUE = r"(?P<value>[^\s,:].*?)"
_OWNED = r"(?:(?P<who>my|our|his|her|their|your|the|(?:[^\s,;:]+ ){0,3}?[^\s,;:]+'s?) )?"
_IS = r"(?:(?: is| are| has changed to| changed to)(?P<not> not)?(?: now| actually)? |: ?)"
_FAVE = rf"{_OWNED}(?:new |current )?(?:favou?rite|fave) "
_FAVOURITE = (
    rf"{_FAVE}(?P<noun>[^\s,:]+(?: [^\s,:]+){{0,2}}?)(?: is(?: now)? (?!not )|: ?)"
    rf"{_VALUE}{_LATELY}"
)
_FAVOURITE_SHORT = (
    rf"{_FAVE}(?P<noun>{'|'.join(sorted(FAVOURITE_NOUNS))}) (?!is\b|are\b|was\b){_VALUE}"
)
_FAVOURITE_LAST = (
    r"(?P<value>[^\s,:]+(?: [^\s,:]+){0,3}?) is (?:now )?"
    rf"(?P<who>my|our|his|her|their|[^\s,:]+'s) (?:favou?rite|fave) (?P<noun>.+?){_LATELY}"
)
_NOUNS = "(?P<noun>" + "|".join(sorted(ATTRIBUTE_NOUNS, key=len, reverse=True)) + ")"
_NOUN = rf"{_OWNED}(?:new |current )?{_NOUNS}{_IS}(?:on |in |at )?{_VALUE}{_LATELY}"
_NOUN_OF = rf"the {_NOUNS} of (?P<who>[^\s,;:]+(?: [^\s,;:]+){{0,2}}?){_IS}{_VALUE}{_LATELY}"
_LIKING = _sentence_pattern(
    rf"{_NOT}{_OFTEN}(?P<verb>can not stand|{'|'.join(sorted(LIKES | DISLIKES))}) {_VALUE}"
)
_FONDNESS = _sentence_pattern(
    rf"(?:am|is|are) {_NOT}{_OFTEN}(?P<verb>fond of|into|an? (?:big |huge )?fan of) {_VALUE}"
)
_ALLERGY = _sentence_pattern(rf"{_BE}{_NOT}allergic to {_VALUE}")
_HOME = r"(?:(?:lives?|living|based|resides?|residing) (?:in|at)|(?:moved|relocated) to)"
_EMPLOYER = r"(?:works?|working|employed|started working) (?:at|for|by)"
_STATES = "|".join(sorted(MARITAL_STATES))
# Tried in this order, and the first match wins: precise forms come before general ones.
_READERS: tuple[Callable[[str], StatedAttribute | None], ...] = (
    _read_favourite,
    _read_noun,
    _make_reader("home", rf"{_HOME} {_VALUE}", value_of=values.normalise_place),
    _make_reader("employer", rf"{_EMPLOYER} {_VALUE}", value_of=values.normalise_place),
    _make_reader(
        "job",
        rf"(?:works?|working|employed) as (?:an? |the )?{_VALUE}",
        value_of=values.normalise_place,
    ),
    _make_reader(
        "name", rf"(?:(?<=am )|(?<=is ))(?:named|called) {_VALUE}", value_of=values.normalise
    ),
    _make_reader(
        "birthday", rf"(?:was )?born (?:on|in) {_VALUE}", value_of=values.normalise_birth_date
    ),
    _make_reader("hometown", rf"(?:was )?born in {_VALUE}", value_of=values.normalise_birthplace),
    _make_reader(
        "marital state",
        rf"(?:got |gotten )?(?P<value>(?:{_STATES})(?: to [^,]+)?)",
        value_of=values.normalise,
    ),
    _make_reader("marital state", rf"married (?!to\b){_VALUE}", value_of=values.normalise_marriage),
    _make_reader("age", r"(?:turned )?(?P<value>\d{1,3}) years old", value_of=values.normalise),
    _make_reader(
        "age", r"(?:(?<=am )|(?<=is )|turned )(?P<value>\d{1,3})", value_of=values.normalise
    ),
    _read_allergy,
    _read_attitude,
)
