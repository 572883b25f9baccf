"""Trees under random sharing, transfers, deletion and restore obey the contract's table."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.conftest import SoakSize
from tests.support.api import Reply
from tests.support.state_machines import prove
from tests.support.world import User, World

pytestmark = pytest.mark.rest_only("random histories prove the rules of the services")

RANK = {"reader": 1, "writer": 2, "manager": 3, "owner": 4}
people = st.integers(0, 4)
picks = st.integers(0, 100)
levels = st.sampled_from(list(RANK))


@dataclass(slots=True)
class Tree:
    """What the model knows of a tree."""

    conversations: list[str]
    owner: int
    members: dict[int, str] = field(default_factory=dict)
    deleted: bool = False
    offer: tuple[str, int] | None = None

    def rank(self, person: int) -> int:
        """0 for a stranger."""
        return RANK.get(self.members.get(person, ""), 0)


class Sharing(RuleBasedStateMachine):
    """Five people and up to three trees."""

    world: World

    @initialize()
    def start(self) -> None:
        """One tree to begin with."""
        self.people: list[User] = [self.world.user("p") for _ in range(5)]
        self.trees: list[Tree] = []
        self.create(0)

    @rule(actor=people)
    def create(self, actor: int) -> None:
        """A new tree."""
        if len(self.trees) < 3:
            made = self.people[actor].starts()
            self.trees.append(Tree([made["id"]], actor, {actor: "owner"}))

    @rule(pick=picks, actor=people)
    def fork(self, pick: int, actor: int) -> None:
        """A new branch, for writers."""
        tree, at = self.tree(pick)
        said = self.people[actor].call("append", at, body={"content": "x"})
        if self.allowed(tree, said, tree.rank(actor) >= RANK["writer"], 201):
            made = self.people[actor].forks(at, said.body["id"])
            tree.conversations.append(made["id"])

    @rule(pick=picks, actor=people, other=people, level=levels, patch=st.booleans())
    def grant(self, pick: int, actor: int, other: int, level: str, patch: bool) -> None:
        """Share with somebody, or change a member."""
        tree, at = self.tree(pick)
        reply = self.grants(at, actor, other, level=level, patch=patch)
        if tree.deleted:
            reply.refused(404, "not_found")
            return
        refusals = grant_refusals(tree, actor, other, level)
        if patch and other not in tree.members and tree.rank(actor) >= RANK["manager"]:
            refusals.add(404)
        if refusals:
            assert reply.status in refusals, (refusals, reply)
        else:
            reply.expect(200 if patch else 201)
            tree.members[other] = level
        self.check(tree)

    @rule(pick=picks, actor=people, other=people)
    def remove(self, pick: int, actor: int, other: int) -> None:
        """Remove somebody, or leave."""
        tree, at = self.tree(pick)
        reply = self.people[actor].call("remove_membership", at, self.people[other].name)
        expected = 404 if tree.deleted else remove_status(tree, actor, other)
        reply.expect(expected)
        if expected == 204:
            tree.members.pop(other, None)
            if tree.offer and tree.offer[1] == other:
                tree.offer = None
        self.check(tree)

    @rule(pick=picks, actor=people, other=people)
    def offer(self, pick: int, actor: int, other: int) -> None:
        """Offer the ownership."""
        tree, at = self.tree(pick)
        body = {"conversationId": at, "newOwnerUserId": self.people[other].name}
        reply = self.people[actor].call("create_transfer", body=body)
        expected = offer_status(tree, actor, other)
        made = reply.expect(expected)
        if expected == 201:
            tree.offer = (made["id"], other)
        elif expected == 409:
            assert tree.offer
            assert made["existingTransferId"] == tree.offer[0]

    @rule(pick=picks, actor=people)
    def accept(self, pick: int, actor: int) -> None:
        """Accept the pending offer."""
        tree, _ = self.tree(pick)
        if tree.offer is None:
            return
        transfer, to = tree.offer
        self.people[actor].call("accept_transfer", transfer).expect(204 if actor == to else 403)
        if actor == to:
            tree.members |= {tree.owner: "manager", to: "owner"}
            tree.owner, tree.offer = to, None
            self.people[actor].call("get_transfer", transfer).refused(404, "not_found")
        self.check(tree)

    @rule(pick=picks, actor=people)
    def cancel(self, pick: int, actor: int) -> None:
        """Cancel or reject the pending offer."""
        tree, _ = self.tree(pick)
        if tree.offer is None:
            return
        transfer, to = tree.offer
        takes_part = actor in (tree.owner, to)
        self.people[actor].call("delete_transfer", transfer).expect(204 if takes_part else 403)
        if takes_part:
            tree.offer = None
        self.check(tree)

    @rule(pick=picks, actor=people)
    def delete(self, pick: int, actor: int) -> None:
        """Soft-delete, for the owner."""
        tree, at = self.tree(pick)
        reply = self.people[actor].call("delete_conversation", at)
        if self.allowed(tree, reply, actor == tree.owner, 204):
            tree.deleted, tree.offer = True, None
            tree.members.clear()
        self.check(tree)

    @rule(pick=picks)
    def restore(self, pick: int) -> None:
        """Restore through any id of the tree."""
        tree, at = self.tree(pick)
        reply = self.world.admin.call("admin_restore_conversation", at)
        reply.expect(200 if tree.deleted else 409)
        if tree.deleted:
            tree.deleted = False
            tree.members[tree.owner] = "owner"
        self.check(tree)

    @rule(pick=picks, actor=people)
    def read(self, pick: int, actor: int) -> None:
        """Read, for members."""
        tree, at = self.tree(pick)
        reply = self.people[actor].call("get_conversation", at)
        if self.allowed(tree, reply, actor in tree.members, 200):
            assert reply.body["accessLevel"] == tree.members[actor]

    def teardown(self) -> None:
        """Nobody lists more or less than the trees where they are a member."""
        for number, person in enumerate(getattr(self, "people", [])):
            listed = {c["id"] for c in person.walks("list_conversations", mode="all")}
            mine = [t.conversations for t in self.trees if number in t.members]
            assert listed == {id_ for ids in mine for id_ in ids}

    def check(self, tree: Tree) -> None:
        """A live tree has the modelled members and one owner, shown on all its conversations."""
        owner = self.people[tree.owner]
        if tree.deleted:
            owner.call("get_conversation", tree.conversations[0]).refused(404, "not_found")
            return
        named = {self.people[number].name: level for number, level in tree.members.items()}
        assert owner.levels(tree.conversations[-1]) == named
        assert list(named.values()).count("owner") == 1
        for conversation in tree.conversations:
            assert owner.gets(conversation)["ownerUserId"] == owner.name
        offers = owner.walks("list_transfers", role="sender")
        mine = [t["id"] for t in offers if t["conversationId"] == tree.conversations[0]]
        assert mine == ([tree.offer[0]] if tree.offer else [])

    def allowed(self, tree: Tree, reply: Reply, permitted: bool, success: int) -> bool:
        """Was it done? Checks the status against the model."""
        permitted = permitted and not tree.deleted
        refusal = 404 if tree.deleted else 403
        reply.expect(success if permitted else refusal)
        return permitted

    def tree(self, pick: int) -> tuple[Tree, str]:
        """Any tree, and any conversation of it to reach it through."""
        tree = self.trees[pick % len(self.trees)]
        return tree, tree.conversations[pick % len(tree.conversations)]

    def grants(self, at: str, actor: int, other: int, *, level: str, patch: bool) -> Reply:
        """The call of `grant`."""
        body: dict[str, Any] = {"accessLevel": level}
        name = self.people[other].name
        if patch:
            return self.people[actor].call("change_membership", at, name, body=body)
        return self.people[actor].call("share", at, body=body | {"userId": name})


def grant_refusals(tree: Tree, actor: int, other: int, level: str) -> set[int]:
    """Statuses that may refuse: of granting the level, and of touching the present one."""
    rank, present = tree.rank(actor), tree.members.get(other)
    if rank < RANK["manager"]:
        return {403}
    refusals = set()
    if level == "owner":
        refusals.add(400)
    if level == "manager" and rank < RANK["owner"]:
        refusals.add(403)
    if present == "owner":
        refusals.add(409 if rank == RANK["owner"] else 403)
    if present == "manager" and rank < RANK["owner"]:
        refusals.add(403)
    return refusals


def remove_status(tree: Tree, actor: int, other: int) -> int:
    """What removing meets in a live tree."""
    rank, present = tree.rank(actor), tree.members.get(other)
    if actor == tree.owner == other:
        return 409
    if actor == other and rank:
        return 204
    if rank < RANK["manager"] or (rank < RANK["owner"] and present in ("manager", "owner")):
        return 403
    return 204


def offer_status(tree: Tree, actor: int, other: int) -> int:
    """What a new transfer meets, in the contract's order."""
    if tree.deleted:
        return 404
    if actor != tree.owner:
        return 403
    if actor == other or other not in tree.members:
        return 400
    return 409 if tree.offer else 201


def test_a_live_tree_has_exactly_one_owner(world: World, soak_size: SoakSize) -> None:
    bound = type("BoundSharing", (Sharing,), {"world": world})
    prove(bound, examples=soak_size(30, 300))
