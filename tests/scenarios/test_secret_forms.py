"""Secrets as people and programs write them, by each way in. No value here was ever in use."""

import pytest

from tests.scenarios.conftest import LoggedServer
from tests.scenarios.write_paths import MINE, WAYS, Home, a_home, import_codes
from tests.support.world import new_id

pytestmark = pytest.mark.amendment(9)

# Each with a part that must be nowhere afterwards.
REFUSED = {
    "payment test key": ("it runs with sk_test_" + "zqa1" * 5, "zqa1zqa1"),
    "mail": ("SG." + "zqb2" * 5 + "." + "zqb3" * 8, "zqb2zqb2"),
    "bot": ("7418295036:AA" + "zqc3" * 9, "zqc3zqc3"),
    "hook": ("https://hooks.slack.com/services/T0ZQ1/B0ZQ2/" + "zqd4" * 6, "zqd4zqd4"),
    "runner": ("glrt-" + "zqe5" * 5, "zqe5zqe5"),
    "vault": ("hvs." + "zqf6" * 8, "zqf6zqf6"),
    "storage account": ("AccountKey=" + "zqg7" * 21 + "zw==", "zqg7zqg7"),
    "short label": ("pw: zqhorse*4", "zqhorse"),
    "weak label": ("our maps token is zq77mango", "zq77mango"),
    "changed": ("the router password was changed to zqtulip44", "zqtulip44"),
    "bare": ("fyi wifi password zqgarden44", "zqgarden44"),
    "an ordinary word first": ("password is required99zq", "required99zq"),
    "german": ("das WLAN-Kennwort lautet zqFichte31", "zqfichte31"),
    "french": ("le mot de passe est zqLavande84", "zqlavande84"),
    "spanish": ("la contraseña es zqGirasol7", "zqgirasol7"),
    "portuguese": ("a senha do wifi é zqmanga21", "zqmanga21"),
    "italian": ("la password del wifi è zqlimone88", "zqlimone88"),
    "chinese": ("家里的wifi密码是zqmao2020", "zqmao2020"),
    "japanese": ("パスワードはzqsakura77です", "zqsakura77"),
}
ACCEPTED = (
    "the secret is patience",
    "The token limit is 4096",
    "Das Passwort ist abgelaufen.",
    "Le mot de passe est obligatoire",
    "La contraseña es incorrecta",
    "密码是必填的",
    "the password must have 12 characters",
    "the promo code is SUMMER25",
    "connect the LED to pin 13",
)
KEY = "glpat-" + "zqid7" * 4


@pytest.fixture
def home(logged_server: LoggedServer) -> Home:
    return a_home(logged_server.callers.person("ann"))


@pytest.mark.parametrize("way", WAYS)
def test_each_form_is_refused_by_each_way_in_and_talk_is_not(
    logged_server: LoggedServer, home: Home, way: str
) -> None:
    for text, part in REFUSED.values():
        reply = WAYS[way](home, text)
        assert set(reply.refused(422, "secret_refused")) >= {"field", "family"}, text
        assert part not in str(reply.body).lower()
    statuses = {text: WAYS[way](home, text).status for text in ACCEPTED}
    assert set(statuses.values()) <= {200, 201}, statuses
    written = logged_server.written()
    assert not [part for _, part in REFUSED.values() if part in written]


def test_an_import_refuses_each_form(home: Home) -> None:
    assert import_codes(home.caller, [text for text, _ in REFUSED.values()]) == {"secret_refused"}
    assert import_codes(home.caller, ACCEPTED) == set()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("What's the wifi password?", "zqmaple77"),
        ("Can you send me the door code?", "Sure, it's 4821"),
        ("Wie ist das WLAN-Passwort?", "zqBirke-2040"),
        ("What is the password for the NAS?", "swallowtailzq"),
    ],
)
def test_the_answer_to_a_question_for_a_secret_is_refused(
    home: Home, asked: str, said: str
) -> None:
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
    reply = home.caller.post("/memories", body={"messages": messages} | MINE)
    details = reply.refused(422, "secret_refused")
    assert details == {"field": "messages[1].content", "family": "labelled"}
    assert said not in str(reply.body)
    other = [messages[0], {"role": "assistant", "content": "No idea, ask Bob"}]
    home.caller.post("/memories", body={"messages": other} | MINE).expect(201)
    other = [{"role": "user", "content": "Which bus goes there?"}, messages[1]]
    home.caller.post("/memories", body={"messages": other} | MINE).expect(201)


def test_an_id_in_the_form_of_a_key_is_refused_wherever_a_caller_chooses_one(
    logged_server: LoggedServer, home: Home
) -> None:
    caller, plain = home.caller, {"content": f"plain {new_id()}"} | MINE
    replies = {
        "id": caller.post("/memories", body=plain | {"id": KEY}),
        "run_id": caller.post(
            "/memories",
            body={"content": "plain", "agent_id": home.agent, "scope": "session", "run_id": KEY},
        ),
        "key": caller.post("/memories", body={"key": KEY, "value": {"a": 1}} | MINE),
    }
    for field, reply in replies.items():
        assert reply.refused(422, "secret_refused")["field"] == field
    for reply in (
        caller.post("/agents", body={"id": KEY}),
        caller.post("/runs", body={"agent_id": home.agent, "id": KEY}),
        caller.put("/chats/{}", KEY, body={"kind": "group"}),
    ):
        details = reply.refused(422, "secret_refused")
        assert (details["field"], details["family"]) == ("id", "provider_key")
    assert "zqid7zqid7" not in logged_server.process.database.stored_text()
    # A label makes no id a secret.
    caller.post("/memories", body=plain | {"id": "password:zx81"}).expect(201)
