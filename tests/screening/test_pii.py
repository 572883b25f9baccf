"""Which personal data is found in a text, what is only a number, and the text without it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.retention_rules import (
    DEFAULT_RISK_RULES,
    DEFAULT_TAG_RULES,
    PII_TAGS,
    PiiRisk,
)
from recollect.screening.pii import (
    PiiMatch,
    find_pii,
    normalise_tags,
    redact,
    riskiest_tag,
)

DAY = 86_400


def found(text: str) -> list[tuple[str, str]]:
    return [(finding.tag, text[finding.start : finding.end]) for finding in find_pii(text)]


@pytest.mark.parametrize(
    ("risk", "days", "tags"),
    [
        (PiiRisk.CRITICAL, 30, {"ssn", "credit_card", "biometric", "health"}),
        (PiiRisk.HIGH, 90, {"email", "phone", "address", "financial"}),
        (PiiRisk.MEDIUM, 365, {"name"}),
        (PiiRisk.LOW, 365, {"ip_address"}),
    ],
)
def test_the_ten_tags_have_their_risk_and_cap(risk: PiiRisk, days: int, tags: set[str]) -> None:
    assert {tag for tag, rule in DEFAULT_TAG_RULES.items() if rule.risk is risk} == tags
    assert DEFAULT_RISK_RULES[risk].max_ttl_seconds == days * DAY
    assert len(PII_TAGS) == 10


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("ssn", "123-45-6789"),
        ("ssn", "123 45 6789"),
        ("ssn", "899-99-9999"),
        ("credit_card", "4111111111111111"),
        ("credit_card", "4111 1111 1111 1111"),
        ("credit_card", "4111-1111-1111-1111"),
        ("credit_card", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
        ("credit_card", "4222222222222"),
        ("credit_card", "378282246310005"),
        ("credit_card", "3782 822463 10005"),
        ("credit_card", "5555 5555 5555 4444"),
        ("credit_card", "2223003122003222"),
        ("credit_card", "30569309025904"),
        ("credit_card", "6011111111111117"),
        ("credit_card", "3530111333300000"),
        ("credit_card", "４１１１ 1111\u00a01111\u200b 1111"),
        ("email", "ann@example.com"),
        ("email", "ann.b+x@sub.example.co.uk"),
        ("email", "o'neil@example.ie"),
        ("phone", "+1 555 123 4567"),
        ("phone", "+15551234567"),
        ("phone", "555-123-4567"),
        ("phone", "(555) 123-4567"),
        ("phone", "212.555.0123"),
        ("phone", "212 555 0123"),
        ("phone", "1-800-555-0199"),
        ("phone", "+44 20 7946 0958"),
        ("phone", "020 7946 0958"),
        ("phone", "(020) 7946 0958"),
        ("phone", "+49 (0)30 1234567"),
        ("phone", "030/1234567"),
        ("phone", "06 12 34 56 78"),
        ("phone", "06.12.34.56.78"),
        ("phone", "090-1234-5678"),
        ("phone", "0412 345 678"),
        ("phone", "+351 912 345 678"),
        ("phone", "+351912345678"),
        ("phone", "98765 43210"),
        ("phone", "138 1234 5678"),
        ("phone", "(11) 91234-5678"),
        ("phone", "8 (912) 345-67-89"),
        ("address", "12 Main Street, Springfield"),
        ("address", "221B Baker Street, London NW1 6XE"),
        ("address", "221B Baker Street London NW1 6XE"),
        ("address", "1600 Pennsylvania Ave NW, Washington, DC 20500"),
        ("address", "742 Evergreen Terrace, Apt 4B, Springfield"),
        ("address", "350 5th Ave, New York"),
        ("address", "10 Downing Street in London"),
        ("address", "12 rue de la Paix, Paris"),
        ("address", "55 Rue du Faubourg Saint-Honoré, 75008 Paris"),
        ("address", "Hauptstraße 5, 10115 Berlin"),
        ("address", "Berliner Straße 5, Berlin"),
        ("address", "Keizersgracht 123, 1015 CJ Amsterdam"),
        ("address", "Calle de Alcalá 42, 28014 Madrid"),
        ("address", "Via Roma 10, 00184 Roma"),
        ("address", "Rua Augusta 100, 1100-053 Lisboa"),
        ("financial", "DE89 3704 0044 0532 0130 00"),
        ("financial", "GB82WEST12345698765432"),
        ("financial", "FR14 2004 1010 0505 0001 3M02 606"),
        ("financial", "de89370400440532013000"),
        ("ip_address", "192.168.1.10"),
        ("ip_address", "8.8.8.8"),
        ("ip_address", "2001:db8::1"),
        ("ip_address", "fe80::1"),
        ("ip_address", "::ffff:192.0.2.1"),
        ("ip_address", "2001:0db8:85a3:0000:0000:8a2e:0370:7334"),
    ],
)
def test_each_kind_is_found_alone_and_in_a_sentence(tag: str, text: str) -> None:
    assert found(text) == [(tag, text)]
    assert found(f"so it was ({text}), she said.") == [(tag, text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my ssn is 123456789", ("ssn", "123456789")),
        ("call 555-1234", ("phone", "555-1234")),
        ("call me at 5551234567", ("phone", "5551234567")),
        ("call 555-123-4567 10 times", ("phone", "555-123-4567")),
        ("call 555-123-4567 (2024)", ("phone", "555-123-4567")),
        ("call +49 (0)30 1234567", ("phone", "+49 (0)30 1234567")),
        ("Phone: 07911123456", ("phone", "07911123456")),
        ("my number is 5551234567", ("phone", "5551234567")),
        ("I live at 12 main street, springfield", ("address", "12 main street, springfield")),
        ("root@10.0.0.1", ("ip_address", "10.0.0.1")),
        ("http://203.0.113.9:80/x", ("ip_address", "203.0.113.9")),
        ("updated the server to 10.0.0.1", ("ip_address", "10.0.0.1")),
        ("ip:203.0.113.9", ("ip_address", "203.0.113.9")),
        ("[2001:db8::1]:443", ("ip_address", "2001:db8::1")),
        ("card 4111 1111 1111 1111 12/26", ("credit_card", "4111 1111 1111 1111")),
        ("NO93 8601 1117 947 is mine", ("financial", "NO93 8601 1117 947")),
    ],
)
def test_the_words_around_tell_what_a_number_is(text: str, expected: tuple[str, str]) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        # numbers that fail their check
        "order 4111111111111112",
        "1234567890123456",
        "DE89 3704 0044 0532 0130 01",
        *("000-12-3456", "666-12-3456", "900-12-3456", "123-00-4567", "123-45-0000"),
        "IMEI 356938035643809",
        # ids
        "550e8400-e29b-41d4-a716-446655440000",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        *("order 555-123-4567", "ticket #5551234567", "order id 1234567890", "5551234567"),
        *("978-3-16-148410-0", "0-306-40615-2", "ISBN 9780306406157", "12345-6789"),
        *("https://example.com/4567890123", "sha256:0123456789", "1234 5678"),
        # dates and times
        *("2024-01-05", "01-02-2024", "05/01/2024 10:30", "2024-01-05 10:30:45", "call 2024-01-05"),
        *("20240105123045", "1700000000000", "2024-01-05T10:00:00+0200", "2019-2020", "12:30:45"),
        # amounts and measures
        *("$1,234,567.89", "1 000 000", "+1 000 000 users", "+25 000 000", "call 1000000 people"),
        *("3.14159265358979", "0.4111111111111111", "40.7128, -74.0060", "10 20 30 40 50 60 70 80"),
        # versions and numbers of parts
        *("version 1.2.3.4", "v1.2.3.4", "Browser/91.0.4.124", "pkg==1.2.3.4", "1.2.3.4-beta"),
        *(
            "section 1.2.3.4",
            "__version__ = 1.2.3.4",
            "1.2.3.4.5",
            "Firmware 10.2.0.1 is out",
            "SQLite 3.54.1.0",
        ),
        *("256.1.1.1", "1.2.3", "lib-1.2.3.4", "1.2.3.4.tar.gz", "010.1.1.1"),
        # code
        *("std::vector", "a::b", "x[1::2]", "x[::2]", "aa:bb:cc:dd:ee:ff"),
        *("icon@2x.png", "git@github.com:org/repo.git", "@ann said", "react@18.2.0", "a@b"),
        # prose
        "5 Wall Street bankers",
        "12 Main Street is open",
        "a 10 minute drive, bring snacks",
        "2 miles down the road, turn left",
        "Spring 2024, Berlin",
        "Ann Smith has diabetes and a fingerprint reader",
    ],
)
def test_other_numbers_and_words_are_no_personal_data(text: str) -> None:
    assert found(text) == []


def test_both_ends_of_a_range_are_found() -> None:
    assert [part for _, part in found("10.0.0.1-10.0.0.9")] == ["10.0.0.1", "10.0.0.9"]


def test_of_two_claims_on_the_same_digits_the_stricter_form_wins() -> None:
    text = "DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111, ann@10.example.com"
    assert [tag for tag, _ in found(text)] == ["financial", "credit_card", "email"]


def test_found_text_becomes_the_name_of_its_tag() -> None:
    text = "Write ann@example.com or call 555-123-4567 (10.0.0.1)."
    assert redact(text, find_pii(text)) == "Write [email] or call [phone] ([ip_address])."


def test_overlapping_findings_become_one_mark_of_the_riskiest_tag() -> None:
    findings = [PiiMatch("name", 0, 9), PiiMatch("health", 4, 14), PiiMatch("email", 14, 16)]
    assert redact("Ann Smith's flu!!", findings) == "[health][email]!"
    assert redact("nothing", []) == "nothing"


@given(st.text(st.sampled_from("0123456789 .-+():@ab,DE\u200b４é"), max_size=60))
def test_findings_are_in_order_and_apart(text: str) -> None:
    findings = find_pii(text)
    places = [place for finding in findings for place in (finding.start, finding.end)]
    assert places == sorted(places)
    assert all(finding.start < finding.end <= len(text) for finding in findings)
    assert {finding.tag for finding in findings} <= set(PII_TAGS)


@given(
    st.text(st.sampled_from("ab .,\n"), max_size=30),
    st.text(st.sampled_from("ab .,\n"), max_size=30),
)
def test_redaction_leaves_nothing_of_a_card(before: str, after: str) -> None:
    text = f"{before} 4111 1111 1111 1111 {after}"
    assert "1111" not in redact(text, find_pii(text))


def test_the_riskiest_tag_is_told() -> None:
    assert riskiest_tag(["ip_address", "email", "ssn"]) == "ssn"
    assert riskiest_tag(["phone", "email"]) == "email"
    assert riskiest_tag([]) is None


def test_tags_are_in_lower_case_sorted_and_unique() -> None:
    assert normalise_tags(["SSN", "email", "Email "]) == ("email", "ssn")
    assert normalise_tags([]) == ()


def test_an_unknown_tag_is_refused_with_the_ten_and_not_repeated() -> None:
    with pytest.raises(ValidationFailed) as refused:
        normalise_tags(["email", "shoe size"])
    message = refused.value.message
    assert all(tag in message for tag in PII_TAGS)
    assert "pii_tags[1]" in message
    assert "shoe" not in message


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "1",
            "1 ",
            "1-",
            "1.",
            "1:",
            "1.1.1.1 ",
            "4111 ",
            "4",
            "+1 ",
            "0 12 ",
            "8(",
            "call 1",
            "%2",
        ),
        *("DE89 ", "::", "f:", "a@", "a@b.", "@a.", "@a-", "A-", "A ", "Aa ", "12 A ", "12 Main "),
        *("12 rue ", "Calle A ", "live at 12 a ", "\u200b", "é", "٣", "://a:"),
    ],
)
def test_time_is_linear_in_hostile_text(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    find_pii(text)
    assert time.process_time() - started < 1
