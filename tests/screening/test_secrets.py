"""What is refused as a secret, and what only speaks of one. No value here was ever in use."""

import base64
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.screening.secrets import SecretFamily, find_secret, find_secret_in

KEY_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
PROVIDER_KEYS = {
    **{prefix: prefix + "x" * 16 for prefix in ("sk-", "sk-ant-", "sk-proj-")},
    **{prefix: prefix + "x" * 16 for prefix in ("sk_live_", "rk_live_")},
    **{f"gh{kind}_": f"gh{kind}_" + "x" * 30 for kind in "pousr"},
    **{prefix: prefix + "x" * 20 for prefix in ("github_pat_", "glpat-", "hf_", "npm_")},
    **{prefix: prefix + "X" * 16 for prefix in ("AKIA", "ASIA")},
    "AIza": "AIza" + "x" * 35,
    **{f"xox{kind}-": f"xox{kind}-" + "1" * 10 for kind in "abeoprs"},
}
PROVIDER_KEY = PROVIDER_KEYS["sk-"]
LABELS = (
    *("api key", "secret key", "access key", "access token", "auth token", "refresh token"),
    *("client secret", "password", "passwd", "pwd", "passcode", "passphrase", "PIN"),
    *("security code", "CVV", "routing number", "seed phrase"),
)


def base64url(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = ".".join((base64url({"alg": "none", "typ": "JWT"}), base64url({"sub": "1"}), "x" * 12))


def pem(kind: str) -> str:
    return f"-----BEGIN {kind}-----\n" + "A" * 64


def family(text: str) -> str | None:
    found = find_secret(text)
    return found.family.value if found else None


@pytest.mark.parametrize("prefix", PROVIDER_KEYS)
def test_each_provider_key_is_refused_alone_in_prose(prefix: str) -> None:
    key = PROVIDER_KEYS[prefix]
    assert family(key) == "provider_key"
    assert family(f"I put {key} into the config, remember it.") == "provider_key"


@pytest.mark.parametrize("prefix", sorted(PROVIDER_KEYS.keys() - {"sk-ant-", "sk-proj-"}))
def test_what_is_too_short_is_no_provider_key(prefix: str) -> None:
    assert family(f"I put {PROVIDER_KEYS[prefix][:-1]} there") is None


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("separator", [" is ", ": ", "=", " = ", " -> ", ":"])
@pytest.mark.parametrize("joint", ["", " ", "_", "-", "  "])
def test_each_label_is_known_in_each_writing(label: str, separator: str, joint: str) -> None:
    written = label.replace(" ", joint)
    for form in (written, written.upper(), written.title(), f"the {written}", f"db_{written}"):
        assert family(f"{form}{separator}48213") == "labelled"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("API key: sk-ab", "labelled"),
        ("api_key=zx81", "labelled"),
        ("the apikey is zx81 on staging", "labelled"),
        (f"use {JWT} as the token", "jwt"),
        ("it is at https://ann:" + "pw@host.example/path", "url_credentials"),
        ("redis://:" + "pw@cache", "url_credentials"),
        ("https://ann:p%2Fw" + "@host.example", "url_credentials"),
        ("the PIN is 4821", "labelled"),
        ("the PIN is zx81", "labelled"),
        ("CVV: x12", "labelled"),
        ("my pin is 4821", "labelled"),
        ("the PIN is 4 8 2 1", "labelled"),
        ("the P I N is 4 8 2 1", "labelled"),
        ('the passphrase is "correct horse battery staple"', "labelled"),
        ("the passphrase is “correct horse battery staple”", "labelled"),
        ("passphrase: correct horse battery staple", "labelled"),
        ("seed phrase = apple banana cherry", "labelled"),
        (pem("PRIVATE KEY"), "private_key"),
        (pem("RSA PRIVATE KEY"), "private_key"),
        (pem("ENCRYPTED PRIVATE KEY"), "private_key"),
        (pem("OPENSSH PRIVATE KEY"), "private_key"),
        (pem("PGP PRIVATE KEY BLOCK"), "private_key"),
        ("Authorization: Bearer " + "x" * 16, "auth_header"),
        ("Authorization: " + "x" * 16, "auth_header"),
        ("curl -H 'authorization: token " + "a1" * 8 + "'", "auth_header"),
        ("Bearer " + "x" * 16, "auth_header"),
        ("Basic " + base64.b64encode(b"ann:opensesame").decode(), "auth_header"),
    ],
)
def test_what_must_be_refused_is(text: str, expected: str) -> None:
    assert family(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the password is swordfish",
        "The password is swordfish. Don't tell.",
        "(wifi password: swordfish)",
        "host=db password=swordfish dbname=app",
        "the password is qWer on Mondays",
        "the password is blue-moon-river and so on",
        "my password for the router is zx81",
        "password (wifi): zx81",
        "the password is now zx81",
        "**Password:** zx81",
        'config = {"password": "swordfish"}',
        "password is 'blue fish'",
        "password: hunter 2",
        "the apikey is ab cd12",
        "Password:\nzx81",
        "dbPassword: zx81",
        "mypassword=zx81",
        "https://host.example/?access_token=zx81",
        "the password is password.",
    ],
)
def test_a_label_and_a_value_are_refused(text: str) -> None:
    assert family(text) == "labelled"


@pytest.mark.parametrize(
    "text",
    [
        "the password is stored in the vault",
        "I forgot my password",
        "password: required",
        "the API key is rotated monthly",
        "order 4111111111111112",
        "550e8400-e29b-41d4-a716-446655440000",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "0123456789abcdef" * 4,
        "https://host/path?user=a",
        "the secret of good bread is time",
    ],
)
def test_what_must_be_accepted_is(text: str) -> None:
    assert family(text) is None
    assert family(f"Ann said: {text}, as I wrote.") is None


@pytest.mark.parametrize(
    "text",
    [
        # prose
        "What is the password?",
        "I don't know what my password is\nThanks",
        "the password is wrong, try again",
        "The password is compromised.",
        "PASSWORD IS REQUIRED",
        "the password is case-sensitive",
        "the password is up-to-date",
        "the password is Bob's birthday",
        "the password is — well — long",
        "the password is 12 characters long",
        "the PIN is 4 digits",
        "the pin is 4mm long",
        "the pin is the 4th from the left",
        "the security code is 3 digits on the back",
        "the access token is valid for 15 minutes",
        "the passphrase is stored in the vault",
        "the seed phrase is kept somewhere safe",
        "the seed phrase is 12 words",
        "the pin is bent.",
        "a compass code: NE42",
        "shipping: 4512",
        "basic responsibilities of a nurse",
        "Basic read-write-permissions",
        "bearer authentication/authorization",
        "Change the password:\n1. Open the settings",
        "password: see 1Password",
        "task-management-system-design",
        # code and configuration
        "password: str",
        "api_key: Optional[str] = None",
        'password = os.environ["DB_PASSWORD"]',
        "password = getpass.getpass()",
        "connect(user=user, password=password)",
        "if password == expected_password:",
        "self.password = options.password",
        '"password": {"type": "string"}',
        '"password":{"type":"string"}',
        'print("Password: "); name = "abc"',
        'placeholder="Password: " name="x"',
        "PASSWORD=${PASSWORD}",
        "password: <your-password>",
        "password: [redacted]",
        "password: ****",
        "API key for the header: X-API-Key",
        "PWD=/home/ann",
        "LED pin: 13",
        "/etc/passwd: x1",
        "npm_config_registry_token_value",
        "sk-learn-pipeline-example",
        "postgres://${USER}:${PASSWORD}@host",
        "https://host:8080/path@x",
        "authorization: SimpleCheckConfig",
        "authorization: role-based-access-control",
        "a.b.c, www.example.com, 1.2.3, eyes.on.it",
    ],
)
def test_talk_and_code_about_secrets_is_accepted(text: str) -> None:
    assert family(text) is None


@pytest.mark.parametrize(
    "disguised",
    [
        "sk-" + "x" * 8 + "\u200b" + "x" * 8,
        "sk-" + "x" * 8 + "\u00ad" + "x" * 8,
        "s\u0338k-" + "x" * 16,
        "ｓｋ－" + "x" * 16,
        "sk%2D" + "x" * 16,
        "sk%252D" + "x" * 16,
        r"sk\u002d" + "x" * 16,
        r"sk-xxxxxxxx\u200bxxxxxxxx",
        "sk-" + "x" * 10 + "\n" + "x" * 10,
        "> sk-" + "x" * 10 + "\r\n> " + "x" * 10,
    ],
)
def test_a_disguise_does_not_help(disguised: str) -> None:
    assert family(f"note: {disguised} end") == "provider_key"


def test_base64_in_several_lines_is_read_as_one() -> None:
    middle = len(JWT) // 2
    assert family(f"{JWT[:middle]}\n    {JWT[middle:]}") == "jwt"
    assert family("Bearer " + "a1" * 5 + "\n" + "b2" * 5) == "auth_header"
    assert family("bearer shareholder\nagreements") is None


@given(
    st.text(KEY_CHARS, min_size=16), st.integers(0, 18), st.sampled_from("\u200b\u2060\ufeff\u00ad")
)
def test_an_invisible_character_hides_no_key(body: str, place: int, invisible: str) -> None:
    key = "sk-" + body
    assert family(key[:place] + invisible + key[place:]) == "provider_key"


@given(st.text(), st.text())
def test_no_text_around_a_key_hides_it(before: str, after: str) -> None:
    assert find_secret(f"{before} {PROVIDER_KEY} {after}") is not None


@given(st.text())
def test_any_text_gets_an_answer(text: str) -> None:
    found = find_secret(text)
    assert found is None or found.family in SecretFamily


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"db_password": "x"}, ("value.db_password", "record_member")),
        ({"pin": 4821}, ("value.pin", "record_member")),
        ({"userPIN": "12"}, ("value.userPIN", "record_member")),
        ({"a": [{"apiKey": ["k"]}]}, ("value.a[0].apiKey[0]", "record_member")),
        ({"Client-Secret": "k"}, ("value.*", "record_member")),
        ({"note": {"text": "password: zx81"}}, ("value.note.text", "labelled")),
        ({"Authorization": "a1" * 8}, ("value.Authorization", "auth_header")),
        ({"list": ["fine", PROVIDER_KEY]}, ("value.list[1]", "provider_key")),
        ({"in": {PROVIDER_KEY: 1}}, ("value.in", "provider_key")),
        ({"ann@example.com": {"password": "x"}}, ("value.*.password", "record_member")),
    ],
)
def test_a_secret_in_a_record_is_found_with_its_field(
    value: Any, expected: tuple[str, str]
) -> None:
    found = find_secret_in(value, "value")
    assert found is not None
    assert (found.field, found.family) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"password_policy": "strong", "pin": 3},
        {"password": None, "pin": True, "passcode": "", "pwd": {}},
        {"hairpin": "gold", "compass_code": "NE42", "passwordless": "yes"},
        {"password": {"min_length": 8, "hint": "strong"}},
        {"basic": "monthly-subscription", "n": 1e300, "deep": [[[]]]},
        [],
        "plain",
        None,
        12345,
    ],
)
def test_records_without_a_secret_are_accepted(value: Any) -> None:
    assert find_secret_in(value, "value") is None


def test_tags_and_names_are_screened_one_by_one() -> None:
    found = find_secret_in(["work", "api_key=zx81"], "tags")
    assert found is not None
    assert (found.field, found.family) == ("tags[1]", "labelled")


@given(st.text(KEY_CHARS, min_size=20, max_size=40))
def test_what_is_said_of_a_secret_holds_no_part_of_it(body: str) -> None:
    for value in ({"a": "sk-" + body}, {"sk-" + body: "a"}, {"x": {"sk-" + body: {"pin": 4821}}}):
        assert body not in repr(find_secret_in(value, "value"))


def test_nesting_of_any_depth_is_searched() -> None:
    value: Any = "password: zx81"
    for _ in range(5_000):
        value = [value]
    assert find_secret_in(value, "value") is not None


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a",
            "password ",
            "password:",
            "password is ",
            "password for ",
            "api ",
            "sk-",
            "npm_npm_",
        ),
        *(
            "://a:",
            "eyJ.",
            "e.",
            "%25",
            "\\n",
            "abcdefgh\n",
            "s k ",
            "bearer a",
            "basic ",
            '"',
            "'",
        ),
        *(
            "the door code ",
            "login: a/b ",
            "ledger aaa bbb ",
            "pin?\n",
            "set the password to ",
            "密码",
        ),
        *("curl -u ", "mysql -p", "my key= ", "SG.", "?key=", "cookie: sid=", "p.a.s.s "),
        *("-----BEGIN ", "passphrase is aa ", "\u200b", "\u0315\u0300", "\ufdfa", "password\t"),
    ],
)
def test_time_is_linear_in_hostile_text(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    find_secret(text)
    assert time.process_time() - started < 1
