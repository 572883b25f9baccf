"""Every statement of the stores can be compiled, whichever branch of the code would run it."""

import gc
import importlib
import pkgutil

import pytest
from sqlalchemy import Dialect
from sqlalchemy.sql.visitors import iterate

import recollect
from recollect.db.engines.expressions import CosineDistance
from recollect.db.engines.postgres.connection import DIALECT as POSTGRES
from recollect.db.engines.sqlite.connection import DIALECT as SQLITE
from recollect.db.statements import Query, literal_word


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES], ids=["sqlite", "postgres"])
def test_every_statement_compiles(dialect: Dialect) -> None:
    for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Statements that collection imported are frozen (`tests/conftest.py`), and so not listed.
    gc.unfreeze()
    statements = [thing for thing in gc.get_objects() if isinstance(thing, Query)]
    gc.freeze()
    assert len(statements) > 50
    for statement in statements:
        if dialect is POSTGRES or not is_of_postgres_alone(statement):
            assert statement.compile_for(dialect).sql


def is_of_postgres_alone(statement: Query) -> bool:
    """Nearest vectors by an index; such statements are there once one was asked for."""
    return any(isinstance(part, CosineDistance) for part in iterate(statement.clause))


def test_only_plain_words_go_into_a_text() -> None:
    assert str(literal_word("history")) == "'history'"
    with pytest.raises(ValueError, match="plain words"):
        literal_word("x' OR 'y")
