"""Everything that depends on a language, in one place: English function words and phrases.

A text in another language matches nothing here, and no match has no effect. Words are in the form
that `tokens` returns: lower case, "don't" as "dont", "I've" as "i".
"""

import re


def has_time(text: str) -> bool:
    """Whether a text mentions a time: a date, a day, a year, "last week", "two years ago"."""
    return _TIME.search(text.lower()) is not None


def asks_when(text: str) -> bool:
    """Whether a question asks for a time: "when did", "what year", "how long"."""
    return _ASKS_WHEN.search(text.lower()) is not None


def is_question(text: str) -> bool:
    """Whether the last sentence is a question: a question mark with no word after it.

    Quotes, brackets and emoji may follow the mark. A question early in a long message doesn't make
    the message a question.
    """
    for char in reversed(text):
        if char in QUESTION_MARKS:
            return True
        if char.isalnum():
            return False
    return False


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any_of(*sets: frozenset[str]) -> str:
    """A pattern for any of these words."""
    return "(?:" + "|".join(sorted(frozenset[str]().union(*sets))) + ")"


# Without "us": in lower case it may also be the country.
FIRST_PERSON = _word_set("i im ive my me mine myself we our ours ourselves")
SECOND_PERSON = _word_set("you your yours yourself yourselves")
QUESTION_WORDS = _word_set("how what when where which who whom whose why")
STOP_WORDS = FIRST_PERSON | SECOND_PERSON | QUESTION_WORDS
STOP_WORDS |= _word_set("""
    a an the this that these those such
    he him his himself she her hers herself it its itself they them their theirs themselves us
    and or but nor so if than then as because while
    about at by for from in into of off on onto out to up upon with
    am is are was were be been being do does did doing done have has had having
    can could shall should will would might must
    not no there here too very just also any some
    dont didnt doesnt isnt arent wasnt werent cant couldnt wont wouldnt shouldnt hasnt havent hadnt
    aint
""")

# Ids such as "user-7" or "support@…" denote a role, so such a word in a question names nobody.
ROLE_NAMES = _word_set("""
    admin agent ai assistant bot chatbot client customer guest human info member model owner
    person root service support system team test tester unknown user visitor
""")

# Latin, full-width, Arabic, doubled and mixed, Ethiopic, Greek.
QUESTION_MARKS = frozenset("?？؟⁇⁈⁉‽፧\u037e")

# Verbs for what an assistant says, in the past tense: "you suggested".
PAST_SPEECH_VERBS = _word_set("""
    advised answered came cited compared created described drafted explained gave generated included
    listed mentioned named noted offered outlined pointed proposed provided quoted recommended
    referred reminded replied responded said shared showed stated suggested summarised summarized
    taught thought told wrote
""")
# The same after "did you" or "have you".
SPEECH_VERBS = PAST_SPEECH_VERBS | _word_set("""
    advise answer cite come compare create describe draft explain give given generate include list
    mention name note offer outline point propose provide quote recommend refer remind reply
    respond say share show shown state suggest summarise summarize teach tell think write written
""")
# The same as nouns: "your suggestion".
SPEECH_NOUNS = _word_set("""
    advice answer answers explanation recommendation recommendations reply response responses
    suggestion suggestions
""")
# Words for the assistant that is asked: "you", or the third person.
ASSISTANT_NAMES = _word_set("you assistant ai chatbot")
PAST_AUXILIARIES = _word_set("did had has have")
# Adverbs between "you" and the verb, which don't change the meaning.
ADVERBS = _word_set(
    "also already actually just previously earlier recently once originally initially first"
)
# Words for an earlier conversation that one asks to be reminded of.
EARLIER_TALK_WORDS = _word_set("conversation chat discussion session talked discussed chatted")

MONTHS = _word_set("january february april june july august september october november december")
# Months only together with another word that makes it clear.
UNSURE_MONTHS = _word_set("may march")
WEEKDAYS = _word_set("monday tuesday wednesday thursday friday saturday sunday")
DAYS = _word_set("yesterday today tonight tomorrow nowadays midnight noon")
SEASONS = _word_set("spring summer autumn fall winter christmas easter thanksgiving halloween")
UNITS = _word_set("second minute hour day night week weekend fortnight month year decade century")
COUNTS = _word_set("a an one two three four five six seven eight nine ten few couple several many")

_PERIOD = _any_of(UNITS, SEASONS, WEEKDAYS, MONTHS, _word_set("time morning evening"))
_UNSURE_MONTH = _any_of(UNSURE_MONTHS)
_BEFORE_MONTH = _any_of(_word_set("in on last next this since until till by of early mid late"))
_TIME = re.compile(
    rf"""\b(?:
        {_any_of(MONTHS, WEEKDAYS, DAYS)}s?
      | {_BEFORE_MONTH}[\ -]{_UNSURE_MONTH} | \d+(?:st|nd|rd|th|\.)?[\ -]{_UNSURE_MONTH}
      | {_UNSURE_MONTH}\ \d+(?:st|nd|rd|th)?
      | ago | other\ (?:day|night|week)
      | (?:last|next|this|past|previous|following|coming|every)\ {_PERIOD}
      | (?:\d+|{_any_of(COUNTS)})\ (?:more\ )?{_any_of(UNITS)}s?
      | (?:19|20)\d\ds?
      | \d{{1,2}}(?::\d\d)?\ ?[ap]\.?m | \d{{1,2}}:\d\d
      | \d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}
    )\b""",
    re.VERBOSE,
)
_ASKS_WHEN = re.compile(
    rf"""
        ^\W*(?:(?:and|so|but)\ )?when\b
      | \b(?:since|until|till|by|know|remember|recall|say|(?:tell|remind)\ me)\ when\b
      | \bwhen\ (?:did|does|do|was|were|is|are|will|would|has|have|had|can|could|should)\b
      | \b(?:what|which)(?:\ (?:was|is|were|are)\ the)?\ (?:exact\ )?
        (?:{_any_of(UNITS)}|time|date|season)s?\b
      | \bhow\ (?:long|recently|soon|late|early|much\ time)\b
      | \bhow\ many\ {_any_of(UNITS)}s\b
    """,
    re.VERBOSE,
)
