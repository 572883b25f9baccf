"""What is printed: hostile texts, ids, JSON, errors in one line with their exit code."""

import io
import json
import re
import socket
from pathlib import Path

import pytest

from recollect.cli import output
from recollect.cli.conversations import draw_forks
from recollect_client.models import Fork
from tests.cli.conftest import CommandLine, run_here, write_profile

HOSTILE = (
    "red \x1b[31mtext\x1b[0m title \x1b]0;owned\x07 c1 \x9b2J back \r\b\x7f "
    "turned \u202e reversed [bold]markup[/bold] :smile: tag \U000e0041 line \u2028 end"
)
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069\U000e0041]")


def test_stored_text_obeys_no_terminal(recollect: CommandLine) -> None:
    # With characters that nobody sees a memory goes to quarantine, where no search finds it.
    seen = HOSTILE.replace("\u202e", "").replace("\U000e0041", "")
    made = recollect("remember", seen, "-q").ok().out.strip()
    talk = recollect("conversations", "say", HOSTILE, "-q").ok().out.strip()
    for arguments in (
        ("search", "red text"),
        ("recall", "red text"),
        ("memories", "list"),
        ("memories", "show", made),
        ("memories", "history", made),
        ("memories", "show", made, "--json"),
        ("conversations", "tail", talk),
        ("conversations", "tail", talk, "--json"),
        ("conversations", "export", talk),
        ("conversations", "list"),
        ("conversations", "show", talk),
        ("export",),
    ):
        printed = recollect(*arguments).ok().out
        assert not OBEYED.search(printed), arguments
        assert "red" in printed, arguments
    shown = recollect("memories", "show", made).out
    assert "[bold]markup[/bold] :smile:" in shown
    assert r"\x1b[31m" in shown
    stored = recollect("memories", "show", made, "--json").json
    assert stored["content"] == seen


def test_a_refusal_prints_no_codes_either(recollect: CommandLine) -> None:
    ended = recollect("memories", "show", "\x1b[31mid\x1b[0m")
    assert ended.code == 4
    assert "\x1b" not in ended.err
    assert len(ended.err.splitlines()) == 1


def test_ids_of_a_search_can_be_forgotten(recollect: CommandLine) -> None:
    for number in range(3):
        recollect("remember", f"The zebra number {number} runs.").ok()
    ids = recollect("search", "zebra", "-q").ok().lines
    assert len(ids) == 3
    assert recollect("forget", "-", stdin="\n".join(ids)).ok().out.count("Forgot") == 3
    again = recollect("forget", *ids[:2])
    assert (again.code, len(again.err.splitlines())) == (4, 2)
    assert recollect("search", "zebra", "-q").ok().out == ""


def test_stdin_is_remembered_whole(recollect: CommandLine) -> None:
    made = recollect("remember", "-", "-q", stdin="one\ntwo\n").ok().out.strip()
    assert recollect("memories", "show", made, "--json").json["content"] == "one\ntwo"


def test_a_record_takes_the_place_of_an_earlier_one(recollect: CommandLine) -> None:
    recollect("remember", '{"colour": "dark"}', "--key", "theme").ok()
    recollect("remember", '{"colour": "light"}', "--key", "theme").ok()
    shown = recollect("memories", "list", "--json", "-n", "100").json
    assert [one["value"] for one in shown if one["key"] == "theme"] == [{"colour": "light"}]
    assert recollect("remember", "dark", "--key", "theme").code == 2


@pytest.mark.parametrize("recollect", ["file"], indirect=True)
def test_an_agent_asks_for_itself(recollect: CommandLine) -> None:
    recollect("agents", "register", "robot", "--as", "agent:robot").ok()
    recollect("remember", "I count.", "--private", "--as", "agent:robot").ok()
    found = recollect("memories", "list", "--as", "agent:robot", "--json").json
    assert [one["space"]["kind"] for one in found] == ["agent_private"]
    assert recollect("remember", "x", "--run", "r").code == 2


@pytest.mark.parametrize("recollect", ["server"], indirect=True)
def test_beside_a_token_nobody_else_can_be_named(recollect: CommandLine) -> None:
    assert recollect("agents", "list", "--as", "bob").code == 3


def test_an_erasure_asks_first(recollect: CommandLine) -> None:
    recollect("people", "add", "Zed Quick").ok()
    for arguments, code in ((("--dry-run",), 0), ((), 2)):
        asked = recollect("erase", "--person", "Zed Quick", *arguments)
        assert (asked.code, "would be removed" in asked.out + asked.err) == (code, True)
    assert recollect("people", "show", "Zed Quick").code == 0
    assert recollect("erase", "--person", "Zed Quick", "--yes").ok()
    assert recollect("people", "show", "Zed Quick").code == 4


def test_an_export_comes_back_in_an_empty_place(recollect: CommandLine, tmp_path: Path) -> None:
    recollect("remember", "The export has this.").ok()
    file, copy = tmp_path / "all.jsonl", f"sqlite:///{tmp_path}/copy.db"
    recollect("export", "-o", str(file)).ok()
    assert file.stat().st_mode & 0o077 == 0
    assert recollect("export", "-o", str(file)).code == 2
    report = recollect("import", str(file), "--database-url", copy, "--json").json
    assert (report["refused"], report["created"] > 0) == ([], True)
    found = recollect("search", "export", "--as", "root-admin", "--database-url", copy).ok()
    assert "The export has this." in found.out
    broken = tmp_path / "broken.jsonl"
    broken.write_text("not json\n")
    refused = recollect("import", str(broken))
    assert (refused.code, "refused line" in refused.out) == (2, True)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without database or profiles."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECOLLECT_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("RECOLLECT_PROFILE", raising=False)
    monkeypatch.setenv("RECOLLECT_EMBEDDING__PROVIDER", "none")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("serch", "tea"), 2, "Did you mean 'search'"),
        (("search", "tea", "--limt", "3"), 2, "--limit"),
        (("search",), 2, "Missing argument"),
        (("memories", "shwo", "x"), 2, "Did you mean 'show'"),
        (("search", "tea"), 2, "there is no database at"),
        (("search", "tea", "--database-url", "sqlite:///gone.db"), 2, "gone.db"),
        (("search", "tea", "--profile", "work"), 2, "there is no profile 'work'"),
        (("search", "tea", "--url", "ftp://x"), 2, "must begin with http"),
        (("search", "tea", "--url", "http://x", "--profile", "y"), 2, "exclude each other"),
        (("remember", "x", "--ttl", "soon"), 2, "--ttl"),
        (("import", "gone.jsonl"), 2, "can't read gone.jsonl"),
        (("erase",), 2, "say whom"),
        (("conversations", "export", "no-such-id"), 2, "there is no database"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...], code: int, said: str, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = run_here(monkeypatch, *arguments)
    assert (ended.code, ended.out) == (code, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("recollect: ")
    assert said in line
    assert list(empty.iterdir()) == []


def test_a_server_that_is_down_is_named(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    ended = run_here(monkeypatch, "search", "tea", "--url", url)
    assert ended.code == 7
    assert f"{url}: no connection to the server" in ended.err


@pytest.mark.parametrize("recollect", ["server"], indirect=True)
def test_a_wrong_token_says_where_one_is_put(
    recollect: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = re.search(r'url = "(.*)"', (recollect.folder / "config.toml").read_text())
    assert found is not None
    monkeypatch.setenv("RECOLLECT_TOKEN", "wrong")
    ended = recollect("search", "tea", "--url", found[1])
    assert ended.code == 3
    assert "RECOLLECT_TOKEN" in ended.err


def test_a_config_file_with_secrets_is_for_its_owner_alone(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_profile(empty, '[profiles.a]\nurl = "http://127.0.0.1:1"\ntoken = "t-o-k-e-n"\n')
    file.chmod(0o644)
    refused = run_here(monkeypatch, "profile", "list")
    assert (refused.code, "chmod 600" in refused.err) == (2, True)
    file.chmod(0o600)
    shown = run_here(monkeypatch, "profile", "list").ok()
    assert "http://127.0.0.1:1" in shown.out
    assert "t-o-k-e-n" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[profiles.a]\nurll = 'http://x'", "did you mean url?"),
        ("[profiles.a]\nuser = 'ann'", "must have url or database"),
        ("[profiles.a]\nurl = 1", "must be a text"),
        ("default_profile = 'b'", "there is no profile 'b'"),
        ("[profiles.a", "not valid TOML"),
        ("[profiles.a]\nurl = 'http://x'\ntoken = 't'\ntoken_command = 'c'", "token_command"),
    ],
)
def test_a_wrong_config_file_is_explained(
    text: str, said: str, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_profile(empty, text)
    ended = run_here(monkeypatch, "search", "tea", "--profile", "a")
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_a_profile_is_added_and_asks_a_command_for_its_token(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = ("--url", "http://127.0.0.1:1")
    run_here(monkeypatch, "profile", "add", "work", *url, "--token-command", "sh -c 'exit 3'").ok()
    asked = run_here(monkeypatch, "search", "tea", "--profile", "work")
    assert (asked.code, "exit code is 3" in asked.err) == (3, True)
    stored = ("profile", "add", "home", *url, "--secret", "api_key")
    run_here(monkeypatch, *stored, stdin="k-e-y\n").ok()
    assert (empty / "config.toml").stat().st_mode & 0o077 == 0
    assert run_here(monkeypatch, *stored, stdin="k-e-y\n").code == 5
    listed = run_here(monkeypatch, "profile", "list", "--json").json
    assert [(one["name"], one["credential"]) for one in listed] == [
        ("work", "token_command"),
        ("home", "api_key"),
    ]


class Terminal(io.StringIO):
    """A stdout that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("no_colour", "has_codes"), [("", True), ("1", False)])
def test_a_terminal_gets_colours_unless_it_wants_none(
    no_colour: str, has_codes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", no_colour)
    output.write_table([{"id": "1", "text": "[red]a[/red]\x1b[31m"}], _columns())
    printed = terminal.getvalue()
    assert ("\x1b[" in printed) is has_codes
    assert "[red]a[/red]" in printed
    assert r"\x1b[31m" in printed


def _columns() -> output.Columns:
    return {"id": lambda row: row["id"], "text": lambda row: row["text"]}


def test_the_tree_of_forks_is_drawn() -> None:
    def fork(id_: str, parent: str | None) -> Fork:
        return Fork.model_validate(
            {
                "conversationId": id_,
                "createdAt": "2026-01-01T00:00:00Z",
                "forkedAtConversationId": parent,
            }
        )

    forks = [fork("a", None), fork("b", "a"), fork("c", "b"), fork("d", "a"), fork("e", "gone")]
    lines = [line.split("  2026")[0] for line in draw_forks(forks, "c")]
    assert lines == ["a", "├─ b", "│  └─ c", "└─ d", "e"]


def test_json_with_escapes_has_the_same_value() -> None:
    text = json.dumps(HOSTILE, ensure_ascii=False)
    assert json.loads(output.visible_json(text)) == HOSTILE
    assert not OBEYED.search(output.visible_json(text))


def test_a_default_profile_is_for_data_and_not_for_cleanups(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'default_profile = "far"\n[profiles.far]\nurl = "http://127.0.0.1:1"\nuser = "ann"\n'
    write_profile(empty, text)
    assert "http://127.0.0.1:1" in run_here(monkeypatch, "search", "tea").err
    for arguments in (("expire", "--really"), ("vacuum", "--really"), ("doctor",)):
        ended = run_here(monkeypatch, *arguments)
        assert (ended.code, "there is no database at" in ended.err) == (2, True), arguments
