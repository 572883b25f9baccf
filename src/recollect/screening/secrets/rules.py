"""The rules for secrets, each with the quick look that spares most texts the slow one."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from recollect.screening.secrets import labelled, patterns, sentences
from recollect.screening.secrets.clues import ViewClues
from recollect.screening.secrets.labels import label_hints, label_words


class SecretFamily(StrEnum):
    """The rule by which a secret was found."""

    PROVIDER_KEY = "provider_key"
    JWT = "jwt"
    PRIVATE_KEY = "private_key"
    URL_CREDENTIALS = "url_credentials"
    AUTH_HEADER = "auth_header"
    LABELLED = "labelled"
    RECORD_MEMBER = "record_member"


class SecretRule(NamedTuple):
    """One rule for the secrets of a family. `may_match` is cheap, and true of every view in which
    `matches` finds a secret."""

    family: SecretFamily
    may_match: Callable[[ViewClues], bool]
    matches: Callable[[str], bool]


def may_ask(clues: ViewClues) -> bool:
    """May a secret be asked for here? Its label may stand anywhere, also inside of a word."""
    return not clues.view.isascii() or clues.has_any(label_hints())


def _may_answer(clues: ViewClues) -> bool:
    return clues.has_any(sentences.ANSWER_HINTS) and may_ask(clues)


def _may_hold_key(clues: ViewClues) -> bool:
    return clues.longest >= patterns.KEY_CHARS_MIN or patterns.COMMAND_HINT in clues.view


def _may_hold_jwt(clues: ViewClues) -> bool:
    return clues.longest >= patterns.JWT_CHARS_MIN and clues.view.count(".") >= 2


def _may_hold_label(clues: ViewClues) -> bool:
    return clues.has_word(label_words()) or clues.has_any(labelled.UNMISTAKABLE)


def _may_reverse(clues: ViewClues) -> bool:
    return clues.has_word(label_words())


def _with_any(*hints: str) -> Callable[[ViewClues], bool]:
    return lambda clues: clues.has_any(hints)


def _with_word(words: frozenset[bytes]) -> Callable[[ViewClues], bool]:
    return lambda clues: clues.has_word(words)


# In the order of the families.
RULES = (
    SecretRule(SecretFamily.PROVIDER_KEY, _may_hold_key, patterns.has_provider_key),
    SecretRule(SecretFamily.JWT, _may_hold_jwt, patterns.has_jwt),
    SecretRule(SecretFamily.PRIVATE_KEY, _with_any(patterns.PEM_HINT), patterns.has_private_key),
    SecretRule(
        SecretFamily.URL_CREDENTIALS, _with_any(*patterns.URL_HINTS), patterns.has_url_credentials
    ),
    SecretRule(
        SecretFamily.AUTH_HEADER, _with_any(*patterns.HEADER_HINTS), patterns.has_auth_header
    ),
    *(
        SecretRule(SecretFamily.LABELLED, may_match, matches)
        for may_match, matches in (
            (_may_hold_label, labelled.has_labelled_secret),
            (_may_answer, sentences.has_answer),
            (_may_reverse, sentences.has_reversed),
            (_with_word(sentences.PAIR_WORDS), sentences.has_pair),
            (_with_word(sentences.WALLET_WORDS), sentences.has_wallet),
            (_with_any(*sentences.LOGIN_HINTS), sentences.has_login),
            (_with_any(*sentences.GLUED_HINTS), sentences.has_glued_login),
            (_with_word(sentences.OPENING_WORDS), sentences.has_opening),
        )
    ),
)
