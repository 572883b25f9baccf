"""A client's own conversations: nobody else touches them, so each answer is known beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.nodes.surfaces import NodeClient, Surfaces
from tests.support.branches import Branch, Item
from tests.support.world import User, memory

PEOPLE = ("ann", "bob", "cat")
LEVELS = ("reader", "writer", "manager")
WORDS = ("amber", "basalt", "cedar", "dahlia", "elder")
IN_ALL = "remark"
KEY = "k1"
ALL = {"limit": 1000}


@dataclass(slots=True)
class Tree:
    """What the client knows of a tree. People are numbers."""

    branches: list[Branch]
    title: str
    members: dict[int, str]
    offer: tuple[str, int] | None = None
    words: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By entry, the conversation where it is stored and the word that it says."""

    @property
    def owner(self) -> int:
        """The one who may do everything."""
        (owner,) = (person for person, level in self.members.items() if level == "owner")
        return owner

    def writes(self, person: int) -> bool:
        """May this person append?"""
        return self.members.get(person, "reader") != "reader"


class OwnTrees:
    """Acts on them. Each act is told two numbers to pick by; what it wrote it reads again."""

    def __init__(self, node_client: NodeClient, client: int) -> None:
        self.people = [node_client.user(f"{name}-{client}") for name in PEOPLE]
        self.trees: list[Tree] = []
        self._said = 0
        self.create(0, 0)

    def create(self, pick: int, other: int) -> None:
        """A new tree."""
        owner = pick % len(PEOPLE) if self.trees else 0
        title = f"about {WORDS[other % len(WORDS)]}"
        made = self.people[owner].starts(title)
        self.trees.append(Tree([Branch(made["id"])], title, {owner: "owner"}))
        self._shows(self.trees[-1])

    def say(self, pick: int, other: int) -> None:
        """Append to the history."""
        tree, branch = self._pick(pick)
        self._says(tree, branch, tree.owner, other)

    def note(self, pick: int, other: int) -> None:
        """Append to the client's memory."""
        tree, branch = self._pick(pick)
        entry = self._owner(tree).notes(branch.id, other)
        assert entry["epoch"] == (branch.latest(KEY) or 1)
        self._keep(branch, entry)

    def sync(self, pick: int, other: int) -> None:
        """Sync a list that shares a beginning with the present one, or all of it."""
        tree, branch = self._pick(pick)
        present = branch.memory(KEY)
        wanted = (present if other % 3 else present[: other % 4]) + [pick] * (other % 2)
        epoch, no_op, incremented, stored = branch.synced(KEY, wanted)
        done = self._owner(tree).call("sync", branch.id, body=memory(wanted)).expect(200)
        shown = (done["epoch"], done["noOp"], done["epochIncremented"])
        assert shown == (epoch, no_op, incremented)
        if not no_op:
            assert done["entry"]["content"] == stored
            self._keep(branch, done["entry"])

    def fork(self, pick: int, other: int) -> None:
        """Fork before any history entry."""
        tree, branch = self._pick(pick)
        points = branch.history()
        if not points:
            return
        point = points[other % len(points)].id
        made = self._owner(tree).forks(branch.id, point)
        tree.branches.append(Branch(made["id"], branch.before(point)))
        forks = self._owner(tree).call("list_forks", branch.id).expect(200)["data"]
        assert {fork["conversationId"] for fork in forks} == {b.id for b in tree.branches}
        self._compare(tree, tree.branches[-1])

    def list(self, pick: int, other: int) -> None:
        """What somebody may see, each once."""
        person = pick % len(PEOPLE)
        page = self.people[person].call("list_conversations", mode="all", **ALL).expect(200)
        mine = [b.id for tree in self.trees if person in tree.members for b in tree.branches]
        assert sorted(one["id"] for one in page["data"]) == sorted(mine)

    def share(self, pick: int, other: int) -> None:
        """Make somebody a member, or change the level that they have."""
        tree, branch = self._pick(pick)
        person, level = self._friend(tree, other), LEVELS[pick % len(LEVELS)]
        self._owner(tree).shares(branch.id, self.people[person], level)
        tree.members[person] = level
        self._compare_members(tree, branch)

    def change_level(self, pick: int, other: int) -> None:
        """Change a member's level; there must be one."""
        tree, branch = self._pick(pick)
        person, level = self._friend(tree, other), LEVELS[pick % len(LEVELS)]
        body = {"accessLevel": level}
        reply = self._owner(tree).call(
            "change_membership", branch.id, self.people[person].name, body=body
        )
        reply.expect(200 if person in tree.members else 404)
        if person in tree.members:
            tree.members[person] = level
        self._compare_members(tree, branch)

    def remove(self, pick: int, other: int) -> None:
        """Remove somebody, and what was offered to them."""
        tree, branch = self._pick(pick)
        person = self._friend(tree, other)
        name = self.people[person].name
        self._owner(tree).call("remove_membership", branch.id, name).expect(204)
        tree.members.pop(person, None)
        if tree.offer and tree.offer[1] == person:
            tree.offer = None
        self._compare_members(tree, branch)
        self.people[person].call("get_conversation", branch.id).refused(403, "forbidden")

    def offer(self, pick: int, other: int) -> None:
        """Offer the ownership."""
        tree, branch = self._pick(pick)
        person = self._friend(tree, other)
        body = {"conversationId": branch.id, "newOwnerUserId": self.people[person].name}
        reply = self._owner(tree).call("create_transfer", body=body)
        if person not in tree.members:
            reply.refused(400, "bad_request")
        elif tree.offer:
            assert reply.expect(409)["existingTransferId"] == tree.offer[0]
        else:
            tree.offer = (reply.expect(201)["id"], person)
            self.people[person].call("get_transfer", tree.offer[0]).expect(200)

    def answer_offer(self, pick: int, other: int) -> None:
        """Accept or reject what was offered."""
        tree, branch = self._pick(pick)
        if tree.offer is None:
            return
        (transfer, person), tree.offer = tree.offer, None
        accepts = other % 3 > 0
        answer = "accept_transfer" if accepts else "delete_transfer"
        self.people[person].call(answer, transfer).expect(204)
        self.people[person].call("get_transfer", transfer).refused(404, "not_found")
        if accepts:
            tree.members |= {tree.owner: "manager", person: "owner"}
        self._compare_members(tree, branch)
        for one in tree.branches:
            assert self._owner(tree).gets(one.id)["ownerUserId"] == self._owner(tree).name

    def rename(self, pick: int, other: int) -> None:
        """Another title for the root."""
        tree, _ = self._pick(pick)
        tree.title = f"now {WORDS[other % len(WORDS)]}"
        body = {"title": tree.title}
        self._owner(tree).call("update_conversation", tree.branches[0].id, body=body).expect(200)
        self._shows(tree)

    def delete(self, pick: int, other: int) -> None:
        """Delete a tree, through any of its conversations."""
        tree, branch = self._pick(pick)
        owner = self._owner(tree)
        owner.deletes(branch.id)
        self.trees.remove(tree)
        owner.call("get_conversation", tree.branches[other % len(tree.branches)].id).refused(
            404, "not_found"
        )
        owner.call("append", branch.id, body=memory([1])).refused(404, "not_found")
        if not self.trees:
            self.create(pick, other)

    def friend_reads(self, pick: int, other: int) -> None:
        """Members read, others don't."""
        tree, branch = self._pick(pick)
        person = other % len(PEOPLE)
        reply = self.people[person].call("get_conversation", branch.id)
        if person in tree.members:
            assert reply.expect(200)["accessLevel"] == tree.members[person]
        else:
            reply.refused(403, "forbidden")

    def friend_says(self, pick: int, other: int) -> None:
        """Writers append, others don't."""
        tree, branch = self._pick(pick)
        self._says(tree, branch, other % len(PEOPLE), pick)

    def search(self, pick: int, other: int) -> None:
        """A word is found where it was said, by those who may read it."""
        person, word = pick % len(PEOPLE), WORDS[other % len(WORDS)]
        hits = self.people[person].finds(word, searchType="fulltext", limit=100)
        expected = {where for where, said in self._readable(person).values() if said == word}
        assert sorted(hit["conversationId"] for hit in hits) == sorted(expected)
        self._finds_all(person)

    def check(self) -> None:
        """Everything, once more."""
        for tree in self.trees:
            self._shows(tree)
            self._compare_members(tree, tree.branches[0])
            for branch in tree.branches:
                self._compare(tree, branch)

    def ranks_alike(self, nodes: Sequence[Surfaces], word: str) -> None:
        """Each node finds the same by every kind of search, in the same order."""
        answers = []
        for surfaces in nodes:
            user = replace(self.people[0], api=surfaces[0])
            hits = user.finds(word, limit=100)
            answers.append([(hit["entryId"], hit["score"], hit.get("highlights")) for hit in hits])
        assert all(answer == answers[0] for answer in answers)

    def _says(self, tree: Tree, branch: Branch, person: int, other: int) -> None:
        word = WORDS[other % len(WORDS)]
        self._said += 1
        text = {"role": "USER", "text": f"{word} {IN_ALL} {self._said}"}
        body = {"channel": "history", "contentType": "history", "content": [text]}
        # Over gRPC nobody appends without a client.
        user = self.people[person].with_key(KEY) if other % 3 else self.people[person]
        reply = user.call("append", branch.id, body=body)
        if not tree.writes(person):
            reply.refused(403, "forbidden")
            return
        entry = reply.expect(201)
        tree.words[entry["id"]] = (branch.id, word)
        self._keep(branch, entry)
        self._compare(tree, branch)
        self._finds_all(person)

    def _finds_all(self, person: int) -> None:
        query = {"searchType": "fulltext", "groupByConversation": False, "limit": 1000}
        hits = self.people[person].finds(IN_ALL, **query)
        assert sorted(hit["entryId"] for hit in hits) == sorted(self._readable(person))

    def _readable(self, person: int) -> dict[str, tuple[str, str]]:
        mine = [tree.words for tree in self.trees if person in tree.members]
        return {entry: said for words in mine for entry, said in words.items()}

    def _keep(self, branch: Branch, entry: dict[str, Any]) -> None:
        item = Item(entry["id"], entry["channel"], KEY, entry.get("epoch"), entry["content"])
        branch.items.append(item)

    def _shows(self, tree: Tree) -> None:
        shown = self._owner(tree).gets(tree.branches[0].id)
        assert shown["title"] == tree.title

    def _compare(self, tree: Tree, branch: Branch) -> None:
        page = self._owner(tree).call("list_entries", branch.id, **ALL).expect(200)
        shown = branch.shown(KEY, channel="", epoch="latest")
        assert [entry["id"] for entry in page["data"]] == shown

    def _compare_members(self, tree: Tree, branch: Branch) -> None:
        named = {self.people[person].name: level for person, level in tree.members.items()}
        assert self._owner(tree).levels(branch.id) == named

    def _owner(self, tree: Tree) -> User:
        return self.people[tree.owner].with_key(KEY)

    def _friend(self, tree: Tree, other: int) -> int:
        return (tree.owner + 1 + other % (len(PEOPLE) - 1)) % len(PEOPLE)

    def _pick(self, pick: int) -> tuple[Tree, Branch]:
        tree = self.trees[pick % len(self.trees)]
        return tree, tree.branches[pick // len(self.trees) % len(tree.branches)]
