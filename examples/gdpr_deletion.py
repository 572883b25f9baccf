"""A user asks to be deleted: a plan first, then the deletion, then the proof.

    python3 gdpr_deletion.py                          # the memory is a file in this folder
    python3 gdpr_deletion.py http://127.0.0.1:8080    # the memory is on a server

Dora wants to be forgotten. Emil, who wrote about her, stays.
"""

import sys
import time

from recollect import Recollect


def main() -> None:
    server = sys.argv[1] if sys.argv[1:] else None
    with Recollect.connect(server) if server else Recollect.open("gdpr-deletion.db") as memory:
        emil, dora = memory.user("emil"), memory.user("dora")
        dora.remember("I live in Zanzibar Street.", subjects=["me"])
        dora.conversation().append("I want to move out of Zanzibar Street.")
        emil.remember("Dora plays the cello.", subjects=["@dora"])
        emil.remember("I play the piano.", subjects=["me"])
        team = emil.conversation()
        team.append("Who joins us on Sunday?")
        team.share("dora", "writer")
        dora.conversation(team.id).append("Put down dora for Sunday.")

        plan = dora.erase(dry_run=True)  # counts, and changes nothing
        print({what: plan.counts[what] for what in ("memories", "trees", "entries")})

        begun = dora.erase(dry_run=False)  # from here on no search finds her
        print("emil finds:", [one.content for one in emil.search("Who plays what?")])
        report = dora.operations.get_erasure(begun.id)
        while report.status == "running":
            time.sleep(0.1)
            report = dora.operations.get_erasure(begun.id)
        print("the erasure is", report.status)

        for entry in team.history():  # the others keep their conversation
            print(" ", entry.text)

        # Search everything again for what dora names, and print what nobody can search.
        proof = dora.operations.verify_erasure(begun.id, identifiers=["dora", "Zanzibar"])
        print("traces found:", sum(check.found for check in proof.checks))
        print("not covered:", *sorted(proof.not_covered), sep="\n  ")


if __name__ == "__main__":
    main()
