"""English word lists for parsing statements: attributes, attitudes, many-valued nouns, numbers,
negations.

A missing word only makes the rules more careful: what is not understood replaces nothing.
"""


def _split_words(text: str) -> list[str]:
    return text.split()


def _word_set(text: str) -> frozenset[str]:
    return frozenset(_split_words(text))


def _form_to_base(text: str) -> dict[str, str]:
    """Lines of "base: form, form" as a mapping from form to base."""
    lines = (line.partition(":") for line in text.strip().splitlines())
    return {form.strip(): base.strip() for base, _, forms in lines for form in forms.split(",")}


PRONOUNS = _word_set("i me my we us our he him his she her they them their it its you your user")
DETERMINERS = _word_set("my our his her their your its the a an this that")

# A person has many of these: two texts about them mean two things unless all details agree.
MANY_VALUED = _word_set("""
    pet dog puppy cat kitten hamster rabbit parrot bird fish goldfish horse pony turtle tortoise
    snake lizard gerbil ferret mouse chicken
    child children kid son daughter baby toddler stepson stepdaughter twin
    sibling brother sister stepbrother stepsister
    friend buddy pal bestie
""")

# Attributes with one value at a time, and the nouns that name them.
ATTRIBUTE_NOUNS = _form_to_base("""
home: home, home city, home address, address, residence
hometown: hometown, home town, birthplace, place of birth
employer: employer, company
job: job, job title, profession, occupation
name: name, full name, legal name
first name: first name, given name
last name: last name, surname, family name, maiden name
birthday: birthday, birth date, birthdate, date of birth
marital state: marital status, marital state, relationship status
age: age
phone: phone, phone number, mobile number, cell number, cell phone number, telephone number
email: email, email address, e-mail, e-mail address
postcode: postcode, postal code, zip code
time zone: time zone, timezone
native language: native language, mother tongue, first language
pronouns: pronouns
height: height
weight: weight
blood type: blood type, blood group
shoe size: shoe size
spouse: wife, husband, spouse
manager: boss, manager
""")

# Nouns of favourites that may come without a verb: "favourite colour: blue", "favourite colour
# blue".
FAVOURITE_NOUNS = _word_set("""
    animal author band book city color colour country day dish drink film flower food fruit game
    meal month movie number place restaurant season show singer snack song sport subject team
""")

MARITAL_STATES = _word_set("single married engaged divorced separated widowed")

LIKES = _word_set("like likes love loves adore adores enjoy enjoys")
DISLIKES = _word_set("hate hates dislike dislikes detest detests loathe loathes despise despises")

# Words after "lives in" or "works at" that name no place or company.
NO_PLACES = _word_set("fear peace hope home night work moment")

NEGATIONS = _word_set("not no never without neither nor stopped quit cannot")
# Words that a comparison ignores: they go with a negation that is counted already, or add nothing.
FILLER_WORDS = _word_set("longer anymore always really still now currently actually also just very")
# Words that deny another one, by the word that they deny.
OPPOSITES = _form_to_base("""
like: hate, hates, dislike, dislikes, detest, detests, loathe, loathes, despise, despises
open: closed, shut
available: unavailable
alive: dead, died
true: false, untrue
possible: impossible
allowed: forbidden, prohibited, banned
enabled: disabled
married: single, unmarried, divorced
able: unable
safe: unsafe, dangerous
""")
SYNONYMS = _form_to_base("""
like: likes, love, loves, adore, adores, enjoy, enjoys, liked, loved
colour: color, colours, colors
favourite: favorite, fave
""")

NUMBERS = {
    word: str(value)
    for value, word in enumerate(
        _split_words("""
            two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
            sixteen seventeen eighteen nineteen twenty
        """),
        start=2,
    )
}
MONTHS = {
    word: number
    for number, forms in enumerate(
        _split_words("""
            january/jan february/feb march/mar april/apr may june/jun july/jul august/aug
            september/sep/sept october/oct november/nov december/dec
        """),
        start=1,
    )
    for word in forms.split("/")
}
DAYS = _word_set("""
    monday tuesday wednesday thursday friday saturday sunday today tonight tomorrow yesterday
    spring summer autumn winter christmas easter
""")
# Words that have a capital at the start of a sentence and are no names.
SENTENCE_OPENERS = (
    LIKES
    | DISLIKES
    | frozenset(SYNONYMS)
    | _word_set("""
        lives live works work moved has have had wants prefers needs favourite born never always
        currently recently usually often sometimes one since after before during when please home
        job birthday allergic married single divorced engaged
    """)
)
