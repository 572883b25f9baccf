"""A group chat with an assistant that knows when not to tell.

    python3 group_chat.py                          # the memory is a file in this folder
    python3 group_chat.py http://127.0.0.1:8080    # the memory is on a server

Mia, noah and lea talk in a group. Zoe does not take part.
"""

import sys

from recollect import Recollect
from recollect_client.models import MemoryHits

QUESTION = "What do you know about Noah?"


def main() -> None:
    server = sys.argv[1] if sys.argv[1:] else None
    with Recollect.connect(server) if server else Recollect.open("group-chat.db") as memory:
        mia, noah, lea, zoe = map(memory.user, ("mia", "noah", "lea", "zoe"))
        mia.chat("book-club").create("group", title="Book club")
        for user in (noah, lea):
            mia.chat("book-club").add(user.id)
            user.chat("book-club").add(user.id)  # an invitation counts once it is accepted

        noahs = noah.chat("book-club")
        noahs.remember("I love crime novels.", subjects=["me"])
        noahs.remember("I work at the bakery.", subjects=["me"], sensitivity="personal")
        tablets = noahs.remember("I take tablets for my diabetes.", subjects=["me"])
        print(
            "the server calls the last one", tablets.memory.sensitivity if tablets.memory else None
        )

        # In the group everybody hears the answer.
        show("mia asks in the group", mia.chat("book-club").search(QUESTION, explain=True))
        show("noah asks in the group", noahs.search(QUESTION, explain=True))
        # Alone with the assistant, only the asker hears it.
        show("noah asks in private", noah.search(QUESTION, spaces="all"))
        show("mia asks in private", mia.search(QUESTION, spaces="all"))
        show("zoe asks in private", zoe.search(QUESTION, spaces="all"))
        print("why noah is told in private:", noah.explain(tablets.id).rule)


def show(who: str, found: MemoryHits) -> None:
    """The hits, and how many were held back from the one whom they are about."""
    texts = sorted(hit.content for hit in found)
    print(f"{who}: {texts}", f"and {found.withheld} withheld" if found.withheld else "")


if __name__ == "__main__":
    main()
