"""Finds secrets by their own form: provider keys, JWTs, PEM, URL passwords, auth headers.

Each rule checks one view of a text. Quantifiers are bounded or disjoint, so the time is linear in
the text.
"""

import base64
import json
import re
from functools import cache
from itertools import groupby

from recollect.screening.lists import load_sections
from recollect.screening.secrets.values import is_unmistakable
from recollect.screening.secrets.words import is_placeholder


def has_provider_key(view: str) -> bool:
    """Has the view a key in the form of a well-known provider?"""
    return _provider_key().search(view) is not None


def has_jwt(view: str) -> bool:
    """Has the view three base64url parts, the first a JSON header with `alg`?"""
    return any(_has_jwt_parts(run[0].split(".")) for run in _DOTTED.finditer(view))


def has_private_key(view: str) -> bool:
    """Has the view the first line of a PEM private key? The rest may be missing or encrypted."""
    return _PEM_HEADER.search(view) is not None


def has_url_credentials(view: str) -> bool:
    """Has the view a URL with a password that is no placeholder?"""
    found = (found[1] for found in (*_URL_USER.finditer(view), *_URL_QUERY.finditer(view)))
    return not all(map(is_placeholder, found))


def has_auth_header(view: str, *, broken: bool = False) -> bool:
    """Has the view the value of an authorization header?

    `broken`: line breaks were removed from the view. Then letters alone prove nothing, because two
    words of prose may have become one.
    """
    if any(_is_token(found, broken=broken) for found in _AUTH.finditer(view)):
        return True
    if any(map(_is_short_basic, _SHORT_BASIC.finditer(view))):
        return True
    return any(not is_placeholder(found[1]) for found in _COOKIE.finditer(view))


def _is_short_basic(found: re.Match[str]) -> bool:
    """Is it user and password of a few letters, in base64?"""
    padded = found[1].rstrip("=")
    try:
        pair = base64.b64decode(padded + "=" * (-len(padded) % 4)).decode("ascii")
    except ValueError:
        return False
    return ":" in pair[1:-1] and pair.isprintable()


@cache
def _provider_key() -> re.Pattern[str]:
    """The forms of `data/secret_forms.txt`, sorted by their first letter, so that of each place of
    a text only the few are tried that begin so."""
    sections = load_sections("secret_forms.txt")
    forms = [_prefix_form(*line.split()) for line in sections["prefixes"]]
    by_start = groupby(sorted(forms), key=lambda form: form[:1])
    groups = [f"(?={re.escape(start)})(?:{'|'.join(those)})" for start, those in by_start]
    return re.compile(f"(?<![A-Za-z0-9])(?:{'|'.join([*groups, *sections['patterns']])})")


def _prefix_form(prefix: str, letters: str, count: str) -> str:
    end = f"(?!{_ALPHABETS[letters]})" if count.endswith("=") else ""
    body = f"{_NO_NAME}{_ALPHABETS[letters]}{{{count.rstrip('=')}}}{end}"
    return re.escape(prefix) + body


def _has_jwt_parts(parts: list[str]) -> bool:
    return any(
        parts[place + 1] and parts[place + 2] and _is_jwt_header(parts[place])
        for place in range(len(parts) - 2)
    )


def _is_jwt_header(part: str) -> bool:
    if len(part) < 8 or part[0] not in _BRACE_OR_SPACE:
        return False
    try:
        header = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header


def _is_token(found: re.Match[str], *, broken: bool) -> bool:
    scheme = found.lastgroup or "any"
    token = found[scheme]
    if is_placeholder(token):
        return False
    if len(token) < _TOKEN_CHARS_MIN:
        return not broken and sum(map(str.isdigit, token)) >= 2 and is_unmistakable(token)
    if any(map(str.isdigit, token)):
        return True
    words = token if scheme == "bearer" else token.replace("-", "/")
    return not broken and _LONG_WORDS.fullmatch(words) is None


_ALPHABETS = {
    "key": "[A-Za-z0-9_-]",
    "dotted": "[A-Za-z0-9._=-]",
    "alnum": "[A-Za-z0-9]",
    "base64": "[A-Za-z0-9+/]",
    "caps": "[A-Z0-9]",
    "hex": "[0-9a-fA-F]",
}
# `npm_config_registry`, `sk_test_your_key`: a name in code or a place holder, made of small words.
_WORD = r"(?:[a-z]{1,30}|[A-Z]{1,30})"
_NO_NAME = rf"(?!{_WORD}(?:[_-]{_WORD}){{1,10}}(?![A-Za-z0-9_-]))"
# The first sextet of `{`, or of white space before it.
_BRACE_OR_SPACE = "eICD"
_DOTTED = re.compile(r"[A-Za-z0-9_.-]{10,}")

# Of each rule: strings in lower case, of which every text has one of which the rule says yes.
PEM_HINT = "private key"
URL_HINTS = ("://", "=")
HEADER_HINTS = ("authorization", "bearer", "basic", "cookie:")
# A shorter text without white space is no key of a provider, but for a password in a command.
KEY_CHARS_MIN = 15
COMMAND_HINT = "curl"
JWT_CHARS_MIN = 12
_PEM_HEADER = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY", re.IGNORECASE)
_URL_USER = re.compile(
    r"(?<=[A-Za-z0-9+.-])://[^\s/?#:@\"'<>]{0,256}:([^\s/?#@]{1,256})@[\w\[]", re.IGNORECASE
)
_URL_QUERY = re.compile(
    r"(?<=[?&])(?:api_?key|key|access_token|token|auth|secret|sig|signature|pwd|password)="
    r"((?=[^&\s#]{0,40}\d)(?=[^&\s#]{0,40}[A-Za-z])[^&\s#<>{}$]{8})",
    re.IGNORECASE,
)
_SCHEMES = "bearer|basic|token|digest|negotiate|ntlm|oauth|hawk|jwt|key|api-?key|aws4-hmac-sha256"
_TO_VALUE = r"[\"'`]?(?:\s*[:=]\s*|\s+)[\"'`]?"
_TOKEN_CHARS_MIN = 16
_SIGNS = r"[A-Za-z0-9._~+/=-]{8,}"
_AUTH = re.compile(
    r"(?<![^\W_])(?:"
    rf"authorization{_TO_VALUE}(?:(?:{_SCHEMES})\s+)?(?P<any>{_SIGNS})"
    rf"|bearer(?:[ _-]token)?{_TO_VALUE}(?P<bearer>{_SIGNS})"
    rf"|basic{_TO_VALUE}(?P<basic>[A-Za-z0-9+/=]{{16,}})(?![\w-])"
    r")",
    re.IGNORECASE,
)
_SHORT_BASIC = re.compile(
    r"(?<![^\W_])basic[ ]([A-Za-z0-9+/]{6,15}={0,2})(?![\w+/=-])", re.IGNORECASE
)
_COOKIE = re.compile(
    r"cookie:[ ]?(?:[^\n]{0,120}[ ;])?[\w.-]{0,20}(?:sess|sid|auth|token|jwt)[\w.-]{0,20}="
    r"([A-Za-z0-9%._~+/=-]{12})",
    re.IGNORECASE,
)
# Prose and code: "basic responsibilities", "bearer authentication/authorization", "basic
# username/password", `authorization: SimpleCheckConfig`, `bearer: self.bearer_token`.
_LONG_WORDS = re.compile(
    r"[A-Z]?[a-z]{0,40}(?:tions?|it(?:y|ies)|ness|ments?|ings?|al|ally|istics?|log(?:y|ies)|ed|ly"
    r"|isms?|ive|[ai]ble|ers?|ors?|ary|ence|ance)[.]*"
    r"|[A-Z]?[a-z]{1,40}(?:[/._]+[a-z]{1,40}){1,8}[.]*"
    r"|(?:[A-Z][a-z]{3,40}){2,6}[.]*"
)
