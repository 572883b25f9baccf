"""Quick looks that spare most texts the long one never change what is found."""

from hypothesis import example, given
from hypothesis import strategies as st

from recollect.screening.pii import DETECTORS, PiiMatch, find_pii
from recollect.screening.pii.text import fold_text
from recollect.screening.secrets import find_secret, is_harmless, scan_for_secret
from tests.screening.test_secrets import JWT, LABELS, PROVIDER_KEYS, pem

SECRET_PIECES = (
    *PROVIDER_KEYS.values(),
    *LABELS,
    *(label.upper() for label in LABELS),
    *("API_KEY", "api-key", "dbPassword", "p a s s w o r d", "pass word", "s k - a b c"),
    *(JWT, JWT[:20], "a.b.c", "eyJhbGciOiJub25lIn0-.e-.x", pem("RSA PRIVATE KEY")),
    *("https://ann:pa55@host", "://", "Authorization: ", "Bearer ", "Basic ", "x9" * 9),
    *("is", ":", "=", "->", "hunter2", "hunter2.", "'a b c'", "1234", "%70%61ss", "\\u0070ass"),
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
def test_what_is_cleared_at_once_holds_no_secret(text: str) -> None:
    assert find_secret(text) == scan_for_secret(text)


def test_ordinary_sentences_are_cleared_at_once() -> None:
    assert is_harmless("Ann moved to Lisbon in May, and her sister sails.")
    assert not is_harmless("the password is in the vault")


@given(texts(PII_PIECES))
def test_personal_data_is_found_wherever_it_is_with_and_without_the_quick_look(text: str) -> None:
    assert find_pii(text) == _found_the_long_way(text)


def test_every_kind_of_personal_data_has_a_quick_look_that_spares_ordinary_sentences() -> None:
    plain = "Ann moved to Lisbon in May, and her sister sails."
    assert not [finder.tag for finder in DETECTORS if finder.needs.search(plain)]


def _found_the_long_way(text: str) -> list[PiiMatch]:
    view, places = fold_text(text)
    found: list[PiiMatch] = []
    for finder in DETECTORS:
        spans = list(finder.spans(view))
        found += (PiiMatch(finder.tag, places[a], places[b - 1] + 1) for a, b in spans)
        for start, end in spans:
            view = view[:start] + "\x00" * (end - start) + view[end:]
    return sorted(found, key=lambda finding: finding.start)
