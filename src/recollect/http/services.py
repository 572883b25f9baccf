"""The services of an application, found by their class.

So a handler names the class it calls, and this package needs to know none of them.
"""

from typing import Any, TypeVar, cast

T = TypeVar("T")


class Services:
    """Holds one object of each class. `services[AgentService]` is the only AgentService."""

    def __init__(self, *services: object) -> None:
        self._by_class: dict[type[Any], object] = {type(one): one for one in services}

    def __getitem__(self, kind: type[T]) -> T:
        return cast(T, self._by_class[kind])

    def __or__(self, other: "Services") -> "Services":
        """The services of both; of one class that both have, the other's."""
        return Services(*(self._by_class | other._by_class).values())
