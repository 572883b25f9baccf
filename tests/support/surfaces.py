"""On which pairs of an engine and a surface a test runs.

What a surface adds is nothing that an engine sees. So every engine runs over REST, and one engine
runs over each other surface. A scenario of the contract runs on every engine over every surface of
the server; the clients add nothing to these that an engine sees.
"""

import pytest

from tests.support.engines import ENGINES

CLIENTS = ("client", "embedded")
"""The Python client of a server, and that of a system in the process."""


def parametrize_surfaces(
    metafunc: pytest.Metafunc, *others: str, scenarios_only: bool = False
) -> None:
    """Run a test over REST and over these other surfaces."""
    if "surface" in metafunc.fixturenames:
        pairs = _pairs(metafunc.definition, others, scenarios_only)
        mark = pytest.mark.parametrize(
            ("new_database", "surface"), pairs, indirect=["new_database"], scope="module"
        )
        metafunc.definition.add_marker(mark)


def _pairs(
    test: pytest.Item, others: tuple[str, ...], scenarios_only: bool
) -> list[tuple[str, str]]:
    rest = [(engine, "rest") for engine in ENGINES]
    if test.get_closest_marker("rest_only"):
        return rest
    if test.get_closest_marker("scenario"):
        return rest + [
            (engine, surface)
            for surface in others
            for engine in (ENGINES[:1] if surface in CLIENTS else ENGINES)
        ]
    return rest if scenarios_only else rest + [(ENGINES[0], surface) for surface in others]
