"""What a secret looks like, and what only describes one."""

import re

from recollect.screening.secrets.words import is_function_word, is_ordinary

SURROUNDING = "\"'`*_~.,;:!?()[]{}<>…。、！？，；：「」『』【】“”"


def has_sign(core: str) -> bool:
    """Has it a digit, or a symbol inside that words don't have?"""
    return any(map(str.isdigit, core)) or _INNER_SYMBOL.search(core) is not None


def is_unmistakable(core: str) -> bool:
    """Is it nothing but a secret, even where only a label stands before it?

    It has a letter, and a digit or a symbol inside, and is no version, date, unit, file, address or
    name of an algorithm.
    """
    if len(core) < 5 or not any(map(str.isalpha, core)) or not has_sign(core):
        return False
    return not (_EVERYDAY.fullmatch(core) or is_ordinary(core))


def is_described(core: str) -> bool:
    """Is it an ordinary word, such as `required`? With a digit or a symbol other than a hyphen only
    if it is known as it stands, such as `base64`."""
    head = _HEAD.split(core, maxsplit=1)[0]
    if not has_sign(head):
        return is_ordinary(head)
    return is_ordinary(head, whole=True) or _NAMED.fullmatch(head) is not None


def are_plain_words(words: list[str], *, least: int) -> bool:
    """Are these the words of a phrase, none of them ordinary talk about a secret?"""
    return len(words) >= least and not any(is_ordinary(w) or is_function_word(w) for w in words)


_HEAD = re.compile(r"[,;&|)]")
_INNER_SYMBOL = re.compile(
    r"[^\W_]{1,40}[@#$%^&*+=~!?_|\\§€£][^\s]|^[@#$%^&*+=~!?|\\]{1,3}[^\W_]{3}"
)
# Files, hosts, addresses, algorithms and standards.
_NAMES = (
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
    r"|[\w-]{1,60}(?:\.[\w-]{1,30}){0,4}\.(?:ya?ml|json|toml|ini|env|txt|md|py|js|ts|go|rs|sh|cfg"
    r"|conf"
    r"|pem|crt|html?|docx?|pdf|xlsx?|csv|com|org|net|io|dev|example|local)(?:[/:]\S*)?"
    r"|(?:https?:|\.{0,2}/|~/|[A-Za-z]:\\)\S*"
    r"|(?:sha|aes|rsa|utf|base|hmac|iso|rfc|nist)-?\d{1,5}(?:[-./]?[a-z]{0,6}\d{0,5}){0,2}|md5"
    r"|pbkdf2|argon2i?d?|[bs]crypt|oauth2|http/?\d|tls\d(?:\.\d)?|ipv[46]|x509|ed25519|[hre]s256"
    r"|wpa[23]|fido2|2fa|s3|ec2|k8s"
)
_NAMED = re.compile(_NAMES, re.IGNORECASE)
_EVERYDAY = re.compile(
    r"v?\d{1,4}(?:[.,]\d{1,4}){0,4}[a-z%]{0,3}"  # versions, amounts, units
    r"|\d{1,4}(?:[-/.:]\d{1,4}){1,3}(?:[T ]\S{1,15})?(?:am|pm|h)?"  # dates and times
    r"|\d{1,4}(?:-[a-z]{1,15}){1,3}|[a-z]{1,15}-\d{1,4}"  # `24-hour`, `room-12`
    r"|[a-z]{1,20}(?:_[a-z]{1,20}){1,6}"  # names in code
    rf"|{_NAMES}",
    re.IGNORECASE,
)
