"""An agent with public and private memory: what it tells everybody, and what only its owner reads.

    python3 agent_spaces.py                          # the memory is a file in this folder
    python3 agent_spaces.py http://127.0.0.1:8080    # the memory is on a server

Ann owns the agent of a shop. Bob is a customer.
"""

import sys
from contextlib import suppress

from recollect import Recollect
from recollect_client import Agent, Conflict, InvalidInput


def main() -> None:
    server = sys.argv[1] if sys.argv[1:] else None
    with Recollect.connect(server) if server else Recollect.open("agent-spaces.db") as memory:
        ann, bob = memory.user("ann"), memory.user("bob")
        shop = ann.agent("shop")  # the agent's memory, as ann may use it
        with suppress(Conflict):  # it is there from an earlier run
            shop.register(name="Shop", owner_id="ann")

        shop.remember("The shop opens at nine.", visibility="public")
        discount = shop.remember("The supplier gives ten percent off.", visibility="private")
        compare("at first", shop, bob.agent("shop"))

        # A typing error can't publish anything: what is not known is refused.
        try:
            shop.operations.create_memory(
                agent_id="shop", content="The shop is for sale.", visibility="privat"
            )
        except InvalidInput as error:
            print(error.message)

        # A memory never changes its space in place. A move gives it a new id.
        told = shop.move(discount.id, visibility="public")
        compare("after the move", shop, bob.agent("shop"))
        print("why bob sees it:", bob.agent("shop").explain(told.id).rule)
        shop.forget(told.id)
        compare("after ann forgot it", shop, bob.agent("shop"))


def compare(when: str, of_owner: Agent, of_customer: Agent) -> None:
    """What each of them finds."""
    print(f"{when}:")
    for name, agent in (("ann", of_owner), ("bob", of_customer)):
        found = agent.search("What does the shop get, and when does it open?")
        print(f"  {name}: {sorted(hit.content for hit in found)}")


if __name__ == "__main__":
    main()
