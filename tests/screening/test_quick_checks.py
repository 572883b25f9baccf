"""Quick looks that spare most texts the long one never change what is found."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.screening.pii import DETECTORS, PiiMatch, find_pii
from recollect.screening.pii.text import fold_text
from recollect.screening.secrets import SecretMatch, find_secret, readable_views
from recollect.screening.secrets.clues import ViewClues
from recollect.screening.secrets.rules import RULES
from tests.screening.test_secrets import JWT, LABELS, PROVIDER_KEYS, pem

SECRET_PIECES = (
    *PROVIDER_KEYS.values(),
    *LABELS,
    *(label.upper() for label in LABELS),
    *("API_KEY", "api-key", "dbPassword", "p a s s w o r d", "pass word", "s k - a b c"),
    *(JWT, JWT[:20], "a.b.c", "eyJhbGciOiJub25lIn0-.e-.x", pem("RSA PRIVATE KEY")),
    *("https://ann:pa55@host", "://", "Authorization: ", "Bearer ", "Basic ", "x9" * 9),
    *("is", ":", "=", "->", "hunter2", "hunter2.", "'a b c'", "1234", "%70%61ss", "\\u0070ass"),
    *("user", "login", "with", "curl -u a:bcd", "seed", "parolasi", "Bearer x", "?", "door #4711"),
    *("\u200b", "\n", "\t", "ſk-", "ｓｋ－", "the", "vault", "."),
)
PII_PIECES = (
    *("4111 1111 1111 1111", "4111", "1111", "123-45-6789", "ssn", "123456789", "078 05 1120"),
    *("DE89 3704 0044 0532 0130 00", "GB29", "ann@example.com", "@", "ann", ".com", "10.0.0.7"),
    *("::1", "fe80::1", "2001:db8::1", ":", "1.2.3.4", "v", "+1 555 123 4567", "+49", "030"),
    *("(555) 123-4567", "call me at 5551234567", "tel.", "08/15", "0171 / 1234567"),
    *("12 Main Street, Springfield", "12", "Main Street", ", ", "Berlin", "Hauptstraße 5", "10115"),
    *("lives at 5 elm street, york", "5 rue de Rivoli, 75001 Paris", "Calle Mayor 3, Madrid"),
    *("٤١١١", "４１１１", "²", "５", "＠", "－", "\u200b", "\n", "(", ")", "/", "-", "K", "a"),
)


def texts(pieces: tuple[str, ...]) -> st.SearchStrategy[str]:
    piece = st.sampled_from(pieces) | st.text(max_size=3)
    glue = st.sampled_from(["", " ", " ", "-", ", "])
    return st.lists(st.tuples(piece, glue), max_size=8).map(
        lambda parts: "".join(text + between for text, between in parts)
    )


@given(texts(SECRET_PIECES))
@example("my key: a.b.c")
@example("wifi parolasi: hunter2")
@example("myWifiKey: hunter2")
@example("use hunter2! to sign in")
@example("the safe is #4711")
def test_a_secret_is_found_with_and_without_the_quick_look(text: str) -> None:
    line = " ".join(text.splitlines())
    assert find_secret(line) == _scan_the_long_way(line)


@given(texts(SECRET_PIECES))
def test_no_rule_finds_a_secret_where_its_quick_look_sees_none(text: str) -> None:
    clues = ViewClues.from_view(text)
    assert [rule for rule in RULES if rule.matches(text) and not rule.may_match(clues)] == []


def test_the_quick_look_spares_ordinary_sentences_every_rule() -> None:
    clues = ViewClues.from_view("Ann moved to Lisbon in May, and her sister sails.")
    assert [rule for rule in RULES if rule.may_match(clues)] == []


@pytest.mark.parametrize("label", ["parolası", "parolasi", "PAROLASI", "пар\u1c82ль"])
def test_letters_that_are_alike_without_letter_case_make_no_other_label(label: str) -> None:
    assert find_secret(f"wifi {label}: hunter2") is not None


@given(texts(PII_PIECES))
def test_personal_data_is_found_wherever_it_is_with_and_without_the_quick_look(text: str) -> None:
    assert find_pii(text) == _found_the_long_way(text)


def test_every_kind_of_personal_data_has_a_quick_look_that_spares_ordinary_sentences() -> None:
    plain = "Ann moved to Lisbon in May, and her sister sails."
    assert not [finder.tag for finder in DETECTORS if finder.needs.search(plain)]


def _scan_the_long_way(text: str) -> SecretMatch | None:
    views = readable_views(text)
    found = (rule.family for rule in RULES if any(map(rule.matches, views)))
    first = next(found, None)
    return SecretMatch(first) if first else None


def _found_the_long_way(text: str) -> list[PiiMatch]:
    view, places = fold_text(text)
    found: list[PiiMatch] = []
    for finder in DETECTORS:
        spans = list(finder.spans(view))
        found += (PiiMatch(finder.tag, places[a], places[b - 1] + 1) for a, b in spans)
        for start, end in spans:
            view = view[:start] + "\x00" * (end - start) + view[end:]
    return sorted(found, key=lambda finding: finding.start)
