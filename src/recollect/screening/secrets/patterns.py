"""Finds secrets by their own form: provider keys, JWTs, PEM, URL passwords, auth headers.

Each rule checks one view of a text. Quantifiers are bounded or disjoint, so the time is linear in
the text.
"""

import base64
import json
import re

from recollect.screening.secrets.words import is_placeholder


def has_provider_key(view: str) -> bool:
    """Has the view a key in the form of a well-known provider?"""
    return _PROVIDER_KEY.search(view) is not None


def has_jwt(view: str) -> bool:
    """Has the view three base64url parts, the first a JSON header with `alg`?"""
    return any(_has_jwt_parts(run[0].split(".")) for run in _DOTTED.finditer(view))


def has_private_key(view: str) -> bool:
    """Has the view the first line of a PEM private key? The rest may be missing or encrypted."""
    return _PEM_HEADER.search(view) is not None


def has_url_credentials(view: str) -> bool:
    """Has the view a URL with a password that is no placeholder?"""
    return any(not is_placeholder(found[1]) for found in _URL_USER.finditer(view))


def has_auth_header(view: str, *, broken: bool = False) -> bool:
    """Has the view the value of an authorization header?

    `broken`: line breaks were removed from the view. Then letters alone prove nothing, because two
    words of prose may have become one.
    """
    return any(_is_token(found, broken=broken) for found in _AUTH.finditer(view))


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
    if any(map(str.isdigit, token)):
        return True
    words = token if scheme == "bearer" else token.replace("-", "/")
    return not broken and _LONG_WORDS.fullmatch(words) is None


# The first sextet of `{`, or of white space before it.
_BRACE_OR_SPACE = "eICD"
_DOTTED = re.compile(r"[A-Za-z0-9_.-]{10,}")

# `npm_config_registry`: a name in code, made of small words.
_NO_NAME = r"(?![a-z]{1,30}(?:[_-][a-z]{1,30}){1,10}(?![A-Za-z0-9_-]))"
_PROVIDER_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?!learn\b)[A-Za-z0-9_-]{16}"  # of `sk-learn` one writes often, in words with hyphens
    rf"|[sr]k_live_{_NO_NAME}[A-Za-z0-9_-]{{16}}"
    rf"|gh[pousr]_{_NO_NAME}[A-Za-z0-9_-]{{30}}"
    rf"|(?:github_pat_|glpat-|hf_|npm_){_NO_NAME}[A-Za-z0-9_-]{{20}}"
    r"|A[KS]IA[A-Za-z0-9]{16}(?![A-Za-z0-9])"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|xox[abeoprs]-[A-Za-z0-9_-]{10}"
    r")"
)
# In lower case; one of these is in every text of which a rule here says yes, but for `has_jwt`.
FORM_HINTS = (
    *("sk-", "k_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_"),
    *("npm_", "akia", "asia", "aiza", "xox", "private key", "://"),
    *("authorization", "bearer", "basic"),
)
_PEM_HEADER = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY", re.IGNORECASE)
_URL_USER = re.compile(
    r"(?<=[A-Za-z0-9+.-])://[^\s/?#:@\"'<>]{0,256}:([^\s/?#@]{1,256})@[\w\[]", re.IGNORECASE
)
_SCHEMES = "bearer|basic|token|digest|negotiate|ntlm|oauth|hawk|jwt|key|api-?key|aws4-hmac-sha256"
_TO_VALUE = r"[\"'`]?(?:\s*[:=]\s*|\s+)[\"'`]?"
_SIGNS = r"[A-Za-z0-9._~+/=-]{16,}"
_AUTH = re.compile(
    r"(?<![^\W_])(?:"
    rf"authorization{_TO_VALUE}(?:(?:{_SCHEMES})\s+)?(?P<any>{_SIGNS})"
    rf"|bearer(?:[ _-]token)?{_TO_VALUE}(?P<bearer>{_SIGNS})"
    rf"|basic{_TO_VALUE}(?P<basic>[A-Za-z0-9+/=]{{16,}})(?![\w-])"
    r")",
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
