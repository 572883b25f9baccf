"""The texts of the contract that are refused or accepted. No value here was ever in use.

Beside each refused text stands a part of it that must be nowhere afterwards, in lower case.
"""

import base64
import json


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


_JWT = ".".join((_part({"alg": "none"}), _part({"sub": "1"}), "zqsigned1234"))
_LENGTHS = {
    **dict.fromkeys(("sk-", "sk-ant-", "sk-proj-", "sk_live_", "rk_live_"), 16),
    **{f"gh{kind}_": 30 for kind in "pousr"},
    **dict.fromkeys(("github_pat_", "glpat-", "hf_", "npm_"), 20),
    **dict.fromkeys(("AKIA", "ASIA"), 16),
    "AIza": 35,
    **{f"xox{kind}-": 10 for kind in "abeoprs"},
}


def _provider_key(number: int, prefix: str) -> tuple[str, str]:
    """Alone in prose. Its own number makes it one of a kind."""
    own = f"ZQ{number:02}QZ"
    key = prefix + own + "X" * (_LENGTHS[prefix] - len(own))
    return f"I put {key} into the drawer", own.lower()


REFUSED: dict[str, tuple[str, str]] = {
    "spaced label": ("API key: sk-zqab", "sk-zqab"),
    "label with spaces around": ("the  api  key :  sk-zqcd", "sk-zqcd"),
    "joined label": ("api_key=zqx81", "zqx81"),
    "plain label": ("the apikey is zqy81 on staging", "zqy81"),
    "value with a space": ("the apikey is zqab zqcd12", "zqcd12"),
    "jwt": (f"use {_JWT} for it", "zqsigned"),
    "url": ("it is at https://ann:zqpw7@" + "host.example/x", "zqpw7"),
    "pin": ("the PIN of the zqharbour is 4821", "zqharbour"),
    "spaced pin": ("at the zqlocker the P I N is 4 8 2 1", "zqlocker"),
    "passphrase": ('the passphrase is "zqcorrect horse battery staple"', "zqcorrect"),
    "pem": ("-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + "ZQPEM" * 12, "zqpemzqpem"),
    "split key": ("I put sk-zqsplit1\u200bzqsplit2xx there", "zqsplit"),
    **{
        f"provider key {prefix}": _provider_key(number, prefix)
        for number, prefix in enumerate(_LENGTHS)
    },
}
SECRET_RECORD = {"db_password": "zqx"}
ACCEPTED = (
    "the password is stored in the vault",
    "I forgot my password",
    "password: required",
    "the API key is rotated monthly",
    "order 1234567812345678 arrived",
    "550e8400-e29b-41d4-a716-446655440000",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "ticket 00112233445566778899aabbccddeeff0011",
    "https://host.example/path?user=a",
    "the secret of good bread is time",
)
ACCEPTED_RECORD = {"password_policy": "strong", "pin": 3}
SPACED_CARD = "4111 1111 1111 1111"
