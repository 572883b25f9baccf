"""Redaction of single texts, and whether an index still finds one by an erased name."""

from recollect.erasure.identifier_matcher import ERASED, IdentifierMatcher
from recollect.kernel import strict_json
from recollect.search.model import index_words


def redact(text: str | None, matcher: IdentifierMatcher) -> str | None:
    return text and matcher.redact(text)


def redact_json_text(text: str | None, matcher: IdentifierMatcher) -> str | None:
    """A JSON text with redacted values; the same text if nothing in it is redacted."""
    if text is None:
        return None
    value = strict_json.load(text)
    cleaned = matcher.redact_json(value)
    return text if cleaned == value else strict_json.dump(cleaned)


def is_found_by_name(matcher: IdentifierMatcher, text: str, terms: str) -> bool:
    """Does the index, with these terms for the text, still find it by an erased name?

    Words of the erased name are not searched in the index: another word of the text may be the
    same. A redacted text must have exactly the index words that follow from it.
    """
    if matcher.has_match(text):
        return True
    return ERASED in text and index_words(text).terms != terms
