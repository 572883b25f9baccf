"""Which keys a database is opened with: those that encrypted its values, or none that it needs."""

import asyncio
import base64
from collections.abc import Callable, Sequence

import pytest

from recollect.app.context import build_context
from recollect.app.opening import open_database
from recollect.db.encryption import AesGcmCipher
from recollect.kernel.errors import InvalidInput
from recollect.observability.metrics import NoMetrics
from recollect.settings.load import load
from tests.support.encryption import KEY_A, KEY_B
from tests.support.engines import TestDatabase

Key = dict[str, str]
NewDatabase = Callable[[], TestDatabase]

pytestmark = pytest.mark.amendment(15)

WRONG_A = {"id": "a", "key": KEY_B["key"]}
TABLES = ("server_state", "erasures")


@pytest.fixture
def database(new_database: NewDatabase) -> TestDatabase:
    """A database that was opened with key a and has values under it."""
    database = new_database()
    opened(database, KEY_A)
    for id_ in ("one", "two"):
        plant(database, id_, KEY_A)
    return database


def opened(database: TestDatabase, *keys: Key, allow: Sequence[str] = ()) -> None:
    """Open it with these keys, the first one in front, and close it."""
    flags: dict[str, object] = {
        "database.url": database.url,
        "encryption.keys": list(keys),
        "encryption.allow_missing": list(allow),
        "embedding.provider": "none",
    }
    asyncio.run(_open_and_close(flags))


async def _open_and_close(flags: dict[str, object]) -> None:
    context = build_context(load(flags=flags, environ={}).settings, NoMetrics())
    try:
        await open_database(context, migrate=True)
    finally:
        await context.database.close()


def plant(database: TestDatabase, id_: str, key: Key, text: str = "purple") -> None:
    cipher = AesGcmCipher([(key["id"], base64.b64decode(key["key"]))])
    sealed = cipher.seal(text, table="erasures", column="target", row_id=id_)
    database.rows(
        "INSERT INTO erasures (id, status, created_at, target, report)"
        " VALUES (:id, 'done', :at, :target, '{}')",
        id=id_,
        at="2026-01-01T00:00:00.000000Z",
        target=sealed,
    )


def forget_checks(database: TestDatabase) -> None:
    """As a server that kept no check values left it."""
    database.rows("DELETE FROM server_state WHERE substr(name, 1, 10) = 'encryption'")


def refused(database: TestDatabase, *keys: Key, allow: Sequence[str] = ()) -> str:
    """The message of the refusal, which changed nothing."""
    before = database.contents(TABLES)
    with pytest.raises(InvalidInput) as refusal:
        opened(database, *keys, allow=allow)
    assert database.contents(TABLES) == before
    return refusal.value.message


@pytest.mark.parametrize("recorded", [True, False])
def test_keys_that_do_not_fit_are_refused(database: TestDatabase, recorded: bool) -> None:
    if not recorded:
        forget_checks(database)
    assert "need the key 'a'" in refused(database)
    assert "need the key 'a'" in refused(database, KEY_B)
    assert "'a' is not the key" in refused(database, WRONG_A)
    assert "'a' is not the key" in refused(database, KEY_B, WRONG_A)
    opened(database, KEY_B, KEY_A)


def test_a_key_is_refused_by_its_check_value_alone(new_database: NewDatabase) -> None:
    database = new_database()
    opened(database, KEY_A)
    assert "'a' is not the key" in refused(database, WRONG_A)
    opened(database)


def test_a_damaged_value_says_nothing_of_the_key(database: TestDatabase) -> None:
    forget_checks(database)
    database.rows("UPDATE erasures SET target = target || 'A' WHERE id = 'one'")
    opened(database, KEY_A)
    database.rows("UPDATE erasures SET target = substr(target, 1, 3)")
    opened(database, KEY_A)


def test_a_lost_key_is_let_go_by_its_name_only(database: TestDatabase) -> None:
    forget_checks(database)
    opened(database, KEY_B, allow=["a"])
    assert "need the key 'a'" in refused(database, KEY_B)
    assert "need the key 'a'" in refused(database, KEY_B, allow=["b"])
    opened(database, KEY_B, KEY_A)
    assert "'a' is not the key" in refused(database, KEY_B, WRONG_A)
    opened(database, KEY_B, WRONG_A, allow=["a"])


def test_a_lost_key_is_not_replaced_under_its_id(database: TestDatabase) -> None:
    assert "an id of its own" in refused(database, WRONG_A, allow=["a"])


def test_a_key_that_no_value_needs_may_go(database: TestDatabase) -> None:
    opened(database, KEY_B, KEY_A)
    database.rows("DELETE FROM erasures")
    plant(database, "three", KEY_B)
    opened(database, KEY_B)
    assert "need the key 'b'" in refused(database)


def test_a_plain_database_is_opened_with_keys_and_without(new_database: NewDatabase) -> None:
    database = new_database()
    opened(database)
    opened(database)
    opened(database, KEY_A)
    plant(database, "one", KEY_A)
    assert "need the key 'a'" in refused(database)
