"""Memberships: who may grant, change and remove which level, and what leaving means."""

import pytest

from tests.support.world import Ref, User, World, new_id

YES, LEVELS = 0, ("reader", "writer", "manager", "owner")
# The contract's table: what an actor meets when granting or touching each level, and when leaving.
GRANTS = {
    "owner": dict(zip(LEVELS, (YES, YES, YES, 400), strict=True)),
    "manager": dict(zip(LEVELS, (YES, YES, 403, 400), strict=True)),
    **{actor: dict.fromkeys(LEVELS, 403) for actor in ("writer", "reader", "stranger")},
}
TOUCHES = {
    "owner": dict(zip(LEVELS, (YES, YES, YES, 409), strict=True)),
    "manager": dict(zip(LEVELS, (YES, YES, 403, 403), strict=True)),
    **{actor: dict.fromkeys(LEVELS, 403) for actor in ("writer", "reader", "stranger")},
}
ACTORS = ("owner", "manager", "writer", "reader", "stranger")


def an_actor(world: World, conversation: Ref, owner: User, level: str) -> User:
    """Somebody with this level."""
    if level == "owner":
        return owner
    return (
        world.user("sam") if level == "stranger" else world.members(conversation, owner, level)[0]
    )


def tries_to_share(actor: User, conversation: Ref, target: User, level: str) -> int:
    body = {"userId": target.name, "accessLevel": level}
    return actor.call("share", conversation, body=body).status


def tries_to_change(actor: User, conversation: Ref, target: User, level: str) -> int:
    body = {"accessLevel": level}
    return actor.call("change_membership", conversation, target.name, body=body).status


@pytest.mark.parametrize("wanted", LEVELS)
@pytest.mark.parametrize("level", ACTORS)
def test_who_may_grant_a_level(world: World, level: str, wanted: str) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    actor, target = an_actor(world, conversation, ann, level), world.user("new")
    before = ann.levels(conversation)
    refusal = GRANTS[level][wanted]
    assert tries_to_share(actor, conversation, target, wanted) == (refusal or 201)
    granted = {} if refusal else {target.name: wanted}
    assert ann.levels(conversation) == before | granted


@pytest.mark.scenario(22)
@pytest.mark.parametrize("present", LEVELS)
@pytest.mark.parametrize("level", ACTORS)
def test_who_may_change_a_member(world: World, level: str, present: str) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    actor = an_actor(world, conversation, ann, level)
    for wanted in LEVELS:
        refusals = {GRANTS[level][wanted], TOUCHES[level][present]} - {YES}
        for change in (tries_to_share, tries_to_change):
            target = an_actor(world, conversation, ann, present)
            before = ann.levels(conversation)
            status = change(actor, conversation, target, wanted)
            done = 201 if change is tries_to_share else 200
            assert status in (refusals or {done}), (wanted, change)
            changed = {} if refusals else {target.name: wanted}
            assert ann.levels(conversation) == before | changed


@pytest.mark.scenario(22)
@pytest.mark.parametrize("present", LEVELS)
@pytest.mark.parametrize("level", ACTORS)
def test_who_may_remove_a_member(world: World, level: str, present: str) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    actor = an_actor(world, conversation, ann, level)
    target = an_actor(world, conversation, ann, present)
    before = ann.levels(conversation)
    refusal = TOUCHES[level][present]
    reply = actor.call("remove_membership", conversation, target.name)
    assert reply.status == (refusal or 204)
    gone = set() if refusal else {target.name}
    assert ann.levels(conversation).keys() == before.keys() - gone


@pytest.mark.scenario(23)
def test_the_owner_stays(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    assert tries_to_share(ann, conversation, ann, "reader") == 409
    assert tries_to_change(ann, conversation, ann, "reader") == 409
    ann.call("remove_membership", conversation, ann.name).refused(409, "conflict")
    assert ann.levels(conversation) == {ann.name: "owner"}


@pytest.mark.scenario(23)
@pytest.mark.parametrize("level", ["reader", "writer", "manager"])
def test_anybody_else_may_leave(world: World, level: str) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    [member] = world.members(conversation, ann, level)
    member.call("remove_membership", conversation, member.name).expect(204)
    member.call("get_conversation", conversation).refused(403, "forbidden")
    assert ann.levels(conversation) == {ann.name: "owner"}


@pytest.mark.scenario(24)
def test_nobody_raises_the_own_level(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    rob, wil, mia = world.members(conversation, ann, "reader", "writer", "manager")
    assert tries_to_change(rob, conversation, rob, "writer") == 403
    assert tries_to_change(wil, conversation, wil, "manager") == 403
    assert tries_to_change(mia, conversation, mia, "manager") == 403
    assert tries_to_share(rob, conversation, rob, "writer") == 403


@pytest.mark.scenario(24)
def test_an_unknown_member_is_hidden_from_those_who_may_not_manage(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    [wil] = world.members(conversation, ann, "writer")
    assert tries_to_change(wil, conversation, world.user("x"), "reader") == 403
    body = {"accessLevel": "reader"}
    unknown = ann.call("change_membership", conversation, "unknown", body=body)
    assert unknown.refused(404, "not_found")["resource"] == "membership"
    ann.call("remove_membership", conversation, "unknown").expect(204)
    wil.call("remove_membership", conversation, "unknown").refused(403, "forbidden")


def test_granting_owner_is_a_bad_request(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    body = {"userId": "x", "accessLevel": "owner"}
    ann.call("share", conversation, body=body).refused(400, "bad_request")


def test_a_membership_as_it_is_shown(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    conversation = ann.starts()
    made = ann.shares(conversation, bob, "reader")
    assert made == {
        "conversationId": conversation["id"],
        "userId": bob.name,
        "accessLevel": "reader",
        "createdAt": made["createdAt"],
    }
    assert ann.walks("list_memberships", conversation)[1] == made


def test_sharing_again_replaces_the_level_and_keeps_the_time(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    conversation = ann.starts()
    made = ann.shares(conversation, bob, "reader")
    assert ann.shares(conversation, bob, "manager") == made | {"accessLevel": "manager"}
    body = {"accessLevel": "writer"}
    changed = ann.call("change_membership", conversation, bob.name, body=body).expect(200)
    assert changed == made | {"accessLevel": "writer"}
    assert len(ann.levels(conversation)) == 2


def test_sharing_through_a_fork_acts_on_the_tree_and_shows_the_path(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    root = ann.starts()
    fork = ann.forks(root, ann.says(root, "A"))
    assert ann.shares(fork, bob, "reader")["conversationId"] == fork["id"]
    bob.gets(root)
    for branch in (root, fork):
        listed = bob.walks("list_memberships", branch)
        assert {m["conversationId"] for m in listed} == {branch["id"]}
        assert [m["userId"] for m in listed] == [ann.name, bob.name]


def test_user_names_with_odd_characters_are_members_like_others(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    for name in ("a/b", "ü@example.test", "with space", "%2F", "x?y#z", "日本"):
        odd = world.named(f"{name}-{ann.name}")
        ann.shares(conversation, odd, "reader")
        body = {"accessLevel": "writer"}
        ann.call("change_membership", conversation, odd.name, body=body).expect(200)
        assert odd.gets(conversation)["accessLevel"] == "writer"
        ann.call("remove_membership", conversation, odd.name).expect(204)
        odd.call("get_conversation", conversation).refused(403, "forbidden")


def test_participations_follow_every_change(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    root = new_id()
    ann.says(root, "A")

    def present() -> set[str]:
        statement = (
            "SELECT user_id FROM participations"
            " WHERE conversation_group_id = :tree AND left_at IS NULL"
        )
        rows = world.database.rows(statement, tree=root)
        assert len(rows) == len(set(rows))
        return {row[0] for row in rows}

    assert present() == {ann.name}
    ann.shares(root, bob, "reader")
    assert present() == {ann.name, bob.name}
    bob.call("remove_membership", root, bob.name).expect(204)
    assert present() == {ann.name}
    ann.shares(root, bob, "writer")
    ann.deletes(root)
    assert present() == set()
    world.admin.call("admin_restore_conversation", root).expect(200)
    assert present() == {ann.name}
    total = world.database.rows(
        "SELECT count(*) FROM participations WHERE conversation_group_id = :tree", tree=root
    )
    assert total == [(4,)]
