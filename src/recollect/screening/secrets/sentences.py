"""Finds secrets by the sentence that they stand in, where no label stands right before them: the
answer to a question for a password, `zx81 is the password`, a user and a password side by side.
"""

import re
from functools import cache

from recollect.screening.secrets.clues import split_words
from recollect.screening.secrets.labels import (
    compounds,
    joined_pattern,
    known_labels,
    label_pattern,
    to_letters,
)
from recollect.screening.secrets.values import SURROUNDING, has_sign, is_described, is_unmistakable
from recollect.screening.secrets.words import is_function_word, is_ordinary, is_placeholder


def has_answer(view: str) -> bool:
    """Is a question or a request for a secret answered?"""
    return any(_is_answer(view, found) for found in _question().finditer(view))


def _is_answer(view: str, found: re.Match[str]) -> bool:
    between, value = found["between"].split(), found["value"]
    is_asked = found["end"] != "\n" or _REQUEST.search(
        view, max(0, found.start() - 80), found.start()
    )
    core = value.strip(SURROUNDING)
    if not is_asked or is_placeholder(value) or (between and between[0] in compounds()):
        return False
    label = known_labels()[to_letters(found["label"] or found["joined"])]
    digits = sum(map(str.isdigit, core))
    if label.digits_min:
        return digits >= label.digits_min and digits * 2 >= len(core)
    if is_unmistakable(core):
        return True
    if label.wants_sign or found["rest"] is None:
        return False
    if len(core) >= 5 and has_sign(core) and any(map(str.isalpha, core)):
        return not is_described(core)
    # A plain word or a number is a password if it is all that was answered.
    plain = len(core) >= 5 and core.isalpha() and not (is_ordinary(core) or is_function_word(core))
    about_value = _OTHER_QUESTION.search(found["between"]) is None
    return (plain and about_value and found["end"] != "\n") or (core.isdigit() and digits >= 4)


def has_reversed(view: str) -> bool:
    """Is a value said to be the password, as in `zx81 is the password`?"""
    return any(map(_is_reversed, _reversal().finditer(view)))


def _is_reversed(found: re.Match[str]) -> bool:
    value = found["value"]
    core = value.strip(SURROUNDING)
    if is_placeholder(value):
        return False
    if known_labels()[to_letters(found["label"])].digits_min:
        return 4 <= sum(map(str.isdigit, core)) <= 10 and not any(map(str.isalpha, core[1:]))
    quoted = value[0] in "\"'`" and value[-1] == value[0] and not is_ordinary(core)
    return quoted or is_unmistakable(core)


def has_pair(view: str) -> bool:
    """Do a user and a password stand side by side after `login`?"""
    return any(
        (has_sign(found["value"]) or found["sure"] is not None)
        and not (is_placeholder(found["value"]) or is_ordinary(found["value"].strip(SURROUNDING)))
        for found in _PAIR.finditer(view)
    )


def has_login(view: str) -> bool:
    """Does somebody log in with a value, or give it to a command?"""
    found = (found[found.lastgroup or 0].strip(SURROUNDING) for found in _LOGIN.finditer(view))
    return any(is_unmistakable(core) and not is_placeholder(core) for core in found)


def has_glued_login(view: str) -> bool:
    """Is a secret glued to its user or its variable: `ann:…@host`, `ann@mail / …`, `SOME_KEY=…`?"""
    found = (found[found.lastgroup or 0].strip(SURROUNDING) for found in _GLUED.finditer(view))
    return any(
        is_unmistakable(core) and any(map(str.isdigit, core)) and not is_placeholder(core)
        for core in found
    )


def has_opening(view: str) -> bool:
    """Does a number open a door, a safe or a phone, without the word `code`?"""
    return any(pattern.search(view) for pattern in _OPENINGS)


def has_wallet(view: str) -> bool:
    """Does a text that names a wallet hold a row of eleven plain words or more? Some words of such
    rows, such as `about`, also hold sentences together, but no sentence has so few of them."""
    if not _WALLET.search(view):
        return False
    runs = (found[0].split() for found in _WORD_RUN.finditer(view))
    return any(
        sum(is_function_word(word.strip(",;")) for word in run) <= len(run) // 6 for run in runs
    )


@cache
def _question() -> re.Pattern[str]:
    """A label, the end of its question or line, and the first word of what comes after it. `rest`
    is there if nothing else follows."""
    named = rf"(?:(?P<label>{label_pattern()})(?![^\W_])|(?P<joined>{joined_pattern()}))"
    return re.compile(
        rf"{named}(?P<between>[^\n?？]{{0,80}}+)(?P<end>[?？]|\n)"
        rf"[\s\"'`*_>?-]{{0,6}}(?:[\w .@-]{{1,40}}:[ \t]{{1,3}})?[\"'`*_(]{{0,3}}"
        rf"(?:(?:{_LEAD_INS})(?![^\W_])[ \t,.!:;—–-]{{0,4}}){{0,5}}[\"'`*_(]{{0,3}}"
        r"(?P<value>[!-~]{3,100})(?P<rest>[\"'`*_).!]{0,4}[ \t]{0,3}(?:\n|$))?",
        re.IGNORECASE,
    )


@cache
def _reversal() -> re.Pattern[str]:
    return re.compile(
        r"(?<!\S)(?P<value>[!-~]{4,100})[\"'`*_)]{0,3}[ \t]{0,2}[,;—–-]?[ \t]{1,3}"
        r"(?:(?:is|was|as|are|=|that's|this is|that is|ist|als|est|comme|es|como|é|è"
        r"|come)[ \t]{1,3})"
        r"{1,2}(?:(?:the|my|our|his|her|their|your|a|new|das|die|mein|meine|unser|dein|le|mon"
        r"|notre|la|mi"
        r"|su|minha|nossa|mia|nostra|wifi|wi-fi|wlan|admin|root|login|master|current|guest|google"
        r"|bank"
        r"|\w{2,15})[ \t]{1,3}){0,4}?"
        rf"(?P<label>{label_pattern()})(?![^\W_])",
        re.IGNORECASE,
    )


# Of each rule: what every text has of which it says yes. The words are those of an ASCII text, the
# strings are in lower case.
_GLUED_PASSWORDS = ("and", "andpass", "andpassword", "andpasswd")
_USERS = ("user", "users", "username", "usernames")
PAIR_WORDS = split_words(
    "credential credentials creds zugangsdaten identifiants credenciales credenciais credenziali"
    " log login logins sign account anmeldung "
    + " ".join(f"{one}{end}" for one in _USERS for end in ("", *_GLUED_PASSWORDS))
)
ANSWER_HINTS = ("?", "？", "\n")
LOGIN_HINTS = ("log", "sign", "unlock", "/", ":", " -")
WALLET_WORDS = split_words("wallet metamask ledger trezor mnemonic bip seed")
_LOGIN = re.compile(
    r"(?<![^\W_])(?:(?:log(?:ged|s|ging)?|sign(?:ed|s|ing)?)[ ]?(?:in"
    r"|on)[^\n.:;?!]{0,50}?[ ](?:with|using)"
    r"[ ](?P<login>[!-~]{5,60})"
    r"|(?:use|type|enter|try)[ ](?P<use>[!-~]{5,60})[ ](?:to|when|for|if)[ ][^\n.:;?!]{0,30}?(?:log"
    r"|sign|unlock|password|passcode|passphrase|pw)"
    r"|(?:root|admin|administrator|postgres|sa|pi|guest|test|user)[/:](?P<pair>[!-~]{5,60})"
    r"|(?:mysql\w*|mariadb|sshpass|mongo\w*|redis-cli|psql|ldap\w+|net use)[^\n]{0,80}?"
    r"[ ](?:-[pWaw][ ]?|/user:\S{1,40}[ ])['\"]?(?P<option>[!-~]{5,60}))",
    re.IGNORECASE,
)
GLUED_HINTS = ("@", "_key=", "_token=", "_secret=", "_pass=", "_pwd=", "_auth=")
_GLUED = re.compile(
    r"(?<![^\s\"'`(])[\w.-]{2,40}:(?P<host>[^\s:@/]{6,60})@[\w-]{1,40}(?:\.[\w-]{2,40}){1,4}"
    r"|[\w.+-]{1,40}@[\w-]{1,40}(?:\.[\w-]{2,20}){1,3}[ ]?[/|][ ]?(?P<mail>[!-~]{6,60})"
    r"|(?<![^\W_])[A-Z][A-Z0-9_]{1,40}_(?:KEY|TOKEN|SECRET|PASS|PWD|AUTH)=[\"']?(?P<env>[\w+/.-]{16,100})"
)
_PLACE = (
    r"(?:(?:front|back|main|side|garage|office|cellar|garden)[ ])?(?:door|gate|alarm|safe|garage"
    r"|lobby"
    r"|keypad|lockbox|locker|padlock|entrance|entry|lock|haustür|tür|tor|tresor|alarmanlage|porte"
    r"|portail"
    r"|coffre|puerta|portal|alarma|cofre|porta|cancello|allarme)"
)
_PLACES = _PLACE.rpartition("?(?:")[2].rstrip(")").split("|")
_DEVICES = ("phone", "iphone", "ipad", "laptop", "combination")
OPENING_WORDS = split_words(
    " ".join(f"{one} {one}is" for one in (*_PLACES, *_DEVICES) if one.isascii())
)
_OPENINGS = (
    re.compile(rf"\b{_PLACE}[ ]?(?:is|:|=|->|-)?[ ]?(?:#\d{{3,8}}|\d{{3,8}}#)", re.IGNORECASE),
    re.compile(
        r"\b(?:press|punch in|key in|type|enter|dial|tippe|gib|tape|composez|marca"
        r"|pulsa)[ ]#?\d{4,8}#?"
        rf"[ ][^\n.:;?!]{{0,20}}?\b{_PLACE}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:{_PLACE}|phone|iphone|ipad|laptop)[ ](?:opens|unlocks|is opened|is unlocked"
        rf"|disarms)"
        r"[ ](?:with|by)[ ]#?\d[\d -]{3,10}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:safe|locker|lock|padlock|combination)(?:[ ](?:is|opens with)"
        r"|:)?[ ]\d{1,2}-\d{1,2}-\d{1,2}\b",
        re.IGNORECASE,
    ),
    re.compile(r"\balarm[ ](?:is|code)[ ]\d{4,6}\b(?!\s?%)", re.IGNORECASE),
)
_WALLET = re.compile(r"\b(?:wallet|metamask|ledger|trezor|mnemonic|bip-?39|seed)\b", re.IGNORECASE)
_WORD_RUN = re.compile(r"(?<![^\W_])(?:[a-z]{3,8}[,;]?[ \n]){10,40}[a-z]{3,8}(?![^\W_])")
_REQUEST = re.compile(
    r"(?<![^\W_])(?:what(?:'s|s)?|which|send|give|tell|remind|share|need|was ist|wie|gib|sag|schick"
    r"|brauche|donne|envoie|quel|dame|dime|necesito|manda|dammi|preciso|qual)(?![^\W_])",
    re.IGNORECASE,
)
# The question is where the password is kept, or whether it works.
_OTHER_QUESTION = re.compile(
    r"\b(?:stor|kept|keep|sav|liv|expir|chang|work|requir|need|mean|rotat|leak|forg|reset|set"
    r"|us)\w*",
    re.IGNORECASE,
)
_LEAD_INS = (
    r"sure|yes|yeah|yep|yup|ok|okay|of course|hi|hey|here|here you go|there you go|here it is|it's"
    r"|it is|its|it was|it should be|that's|that is|that would be|should be|i think|i believe|try"
    r"|use"
    r"|no problem|got it|ja|klar|natürlich|es ist|das ist|lautet|hier|oui|bien sûr|c'est|voilà"
    r"|voici"
    r"|sí|si|claro|es|aquí|aquí tienes|sim|é|è|certo|ecco|answer|a|the password is|the code is"
    r"|はい|是的|好的|是"
)
_PAIR = re.compile(
    r"(?<![^\W_])(?:(?P<sure>credentials?|creds|user(?: ?name)?s? ?(?:/|and|&|\+) ?pass(?:word|wd)?"
    r"|login details|zugangsdaten|identifiants|credenciales|credenciais|credenziali)|log ?ins?"
    r"|sign in"
    r"|account|user ?(?:name)?|anmeldung)(?![^\W_])(?:[ ](?:for|to|of|on)[ ][^\n.:;=?!]{1,60}?)?"
    r"[ \t]*(?::|=|is|are|with|as|->|ist|sind|est|sont|son|são|sono)[ \t]*[\"'`]?"
    r"(?!https?:)[^\s/|:,;\"'`]{2,60}[\"'`]?[ ]?(?:/|\||:|,|;|and|und|et|y|e)[ ]?[\"'`]?"
    r"(?:(?:pass|password|pw|pwd)[ :=]{1,3})?(?!/)(?P<value>(?=\S{0,60}[A-Za-z])[!-~]{4,100})"
    r"(?(sure)(?=[ ]?(?:\n|$)|[ ]?\())",
    re.IGNORECASE,
)
