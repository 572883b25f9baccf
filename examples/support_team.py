"""A support team that shares a conversation: who may read, who may write, who owns it.

    python3 support_team.py                          # the memory is a file in this folder
    python3 support_team.py http://127.0.0.1:8080    # the memory is on a server

Carla is the customer, sam and kim work for support, and dan for another team.
"""

import sys

from recollect import Recollect
from recollect_client import Conversation, Forbidden


def main() -> None:
    server = sys.argv[1] if sys.argv[1:] else None
    with Recollect.connect(server) if server else Recollect.open("support-team.db") as memory:
        carla, sam, kim, dan = map(memory.user, ("carla", "sam", "kim", "dan"))

        talk = carla.conversation()
        talk.append("Where is my order 4711?")
        wrong = talk.append("It left our shop on Monday.", role="assistant")
        talk.share("sam", "writer")
        talk.share("kim", "reader")

        for user in (kim, dan):
            try:
                user.conversation(talk.id).append("I'll take this one.")
            except Forbidden as error:
                print(f"{user.id}: {error.message}")

        # Sam knows better than the assistant. He continues before its message, in a fork.
        better = sam.conversation(talk.id).fork(wrong, title="Order 4711, checked")
        better.append("It was lost on the way. A new one leaves today.", role="assistant")
        show("carla's branch", talk)
        show("sam's branch, as kim sees it", kim.conversation(better.id))

        # The team keeps what it learned with the conversation. Only its members find it.
        better.remember("The carrier lost order 4711.")
        for user in (kim, dan):
            found = user.search("Which order did the carrier lose?", spaces="all")
            print(f"{user.id} finds:", [hit.content for hit in found])

        # Carla hands the conversation over. Sam accepts, and carla stays as a manager.
        offer = carla.operations.create_ownership_transfer(
            conversation_id=talk.id, new_owner_user_id="sam"
        )
        sam.operations.accept_ownership_transfer(offer.id)
        levels = {one.user_id: one.access_level for one in talk.members()}
        print("members:", dict(sorted(levels.items())))


def show(title: str, talk: Conversation) -> None:
    """The messages of a branch, a line each."""
    print(f"{title}:")
    for entry in talk.history():
        print(f"  {entry.content[0]['role']}: {entry.text}")


if __name__ == "__main__":
    main()
