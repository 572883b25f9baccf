"""What is told to whom, and where: the contract's tables written out, its steps, its examples."""

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest

from recollect.kernel.ids import PersonId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryOrigin, Sensitivity
from recollect.visibility.disclosure import (
    AskerRelation,
    AskerView,
    ChatView,
    DisclosureDecision,
    DisclosureSettings,
    MemoryView,
    asker_relations,
    decide_disclosure,
    is_withheld,
)
from recollect.visibility.model import UnknownOrigin
from tests.visibility import disclosure_cases as cases
from tests.visibility.disclosure_cases import (
    ANYONE,
    CLOSED,
    G1,
    G2,
    GROUP,
    IN_DM,
    IN_G1,
    IN_G2,
    IN_P,
    IN_Q,
    LENIENT,
    ORG,
    OTHER_ORG,
    PRIVATE,
    STRICT,
    P,
    Q,
    R,
    a_group,
    a_memory,
    an_asker,
)

# A cell is the word that the rule ends in where the memory is shown, `-` where it is hidden.
# Columns are the relations of the judged person: S subject, O own space, T stated, W witness,
# N no subjects and a readable space.
TABLE = """
context  sensitivity  subjects  S        O+T   O     T       W        N            none
private  public       yes       subject  own   own   stated  present  -            -
private  public       no        -        own   own   stated  present  no_subjects  -
private  personal     yes       subject  own   own   -       -        -            -
private  personal     no        -        own   own   -       -        -            -
private  sensitive    yes       subject  own   -     -       -        -            -
private  sensitive    no        -        own   -     -       -        -            -
group    public       yes       subject  own   own   stated  present  -            -
group    public       no        -        own   own   -       -        -            -
group    personal     yes       subject  -     -     -       -        -            -
group    personal     no        -        -     -     -       -        -            -
group    sensitive    yes       -        -     -     -       -        -            -
group    sensitive    no        -        -     -     -       -        -            -
"""
ORDER = ["subject", "own", "stated", "present", "no_subjects", "any"]
HEAD, *ROWS = [line.split() for line in TABLE.split("\n") if line]
CELLS = {tuple(row[:3]): dict(zip(HEAD[3:], row[3:], strict=True)) for row in ROWS}
HELD = ["".join(held) for n in range(5) for held in combinations("SOTW", n)] + ["N", "NT", "NW"]
COMBINATIONS = [
    (context, sensitivity, subjects, held)
    for (context, sensitivity, subjects), held in product(CELLS, HELD)
    if not ("S" in held and subjects == "no")
]


def expected_word(cells: dict[str, str], held: str) -> str:
    """Shown if one of the columns that hold shows it; the word comes first in the order."""
    columns = [*held, *(["O+T"] if {"O", "T"} <= set(held) else []), "none"]
    shown = [cells[column] for column in columns if cells[column] != "-"]
    return min(shown, key=ORDER.index, default="excluded")


def a_memory_with(sensitivity: str, subjects: str, held: str) -> MemoryView:
    """One that was learned in G1 and to which P has just these relations."""
    space = IN_P if "O" in held else IN_G1 if "N" in held else IN_Q
    about = {P} if "S" in held else {Q} if subjects == "yes" else set()
    return a_memory(
        *about,
        space=space,
        sensitivity=Sensitivity(sensitivity),
        origin=MemoryOrigin.CHAT,
        learned_in=G1,
        stated_by=P if "T" in held else Q,
        witnesses=frozenset({P, Q} if "W" in held else {Q}),
    )


@pytest.mark.parametrize(("context", "sensitivity", "subjects", "held"), COMBINATIONS)
def test_each_row_of_the_table_shows_what_one_of_its_relations_shows(
    context: str, sensitivity: str, subjects: str, held: str
) -> None:
    memory = a_memory_with(sensitivity, subjects, held)
    chat = PRIVATE if context == "private" else GROUP
    asker = an_asker(chats=frozenset({PRIVATE.id, GROUP.id, *([G1] if "N" in held else [])}))
    word = expected_word(CELLS[context, sensitivity, subjects], held)
    expected = DisclosureDecision(word != "excluded", f"{context}.{sensitivity}.{word}")
    assert decide_disclosure(memory, asker, chat, STRICT) == expected


@pytest.mark.parametrize(
    ("sensitivity", "subjects", "held"),
    sorted({(s, subjects, h) for _, s, subjects, h in COMBINATIONS if not {"O", "N"} & set(h)}),
)
def test_outside_any_chat_the_private_rows_hold_and_bear_their_name(
    sensitivity: str, subjects: str, held: str
) -> None:
    memory = a_memory_with(sensitivity, subjects, held)
    word = expected_word(CELLS["private", sensitivity, subjects], held)
    expected = DisclosureDecision(word != "excluded", f"private.{sensitivity}.{word}")
    assert decide_disclosure(memory, an_asker(), None, STRICT) == expected


@pytest.mark.parametrize("sensitivity", [Sensitivity.PERSONAL, Sensitivity.SENSITIVE])
@pytest.mark.parametrize("held", ["", "S", "O", "T", "W", "SO", "OT", "SOTW"])
@pytest.mark.parametrize("present", ["the subject", "others"])
def test_with_subject_present_only_the_presence_of_a_subject_counts(
    sensitivity: str, held: str, present: str
) -> None:
    memory = a_memory_with(sensitivity, "yes", held)
    there = memory.subjects if present == "the subject" else frozenset({R})
    chat = a_group(*there)
    word = "any" if present == "the subject" else "excluded"
    expected = DisclosureDecision(word == "any", f"group.{sensitivity}.{word}")
    assert decide_disclosure(memory, an_asker(), chat, LENIENT) == expected


def test_with_subject_present_one_of_several_subjects_is_enough() -> None:
    memory = a_memory(Q, R, sensitivity=Sensitivity.SENSITIVE)
    assert decide_disclosure(memory, an_asker(), a_group(P, R), LENIENT) == DisclosureDecision(
        True, "group.sensitive.any"
    )


# A public memory about S, who is far away, in a group. `asker` and `other` say what P, who asks,
# and R have to do with it, and whether they are confirmed (+) or only invited (-).
GROUP_ROW = """
asker  other  known     anyone
+      +      excluded  any
+      +S     known     any
+      +O     known     any
+      +T     known     any
+      +W     known     any
+      -S     excluded  any
+      -O     excluded  any
+      -T     excluded  any
+      -W     excluded  any
+S     +      subject   subject
+O     +      own       own
+T     +      stated    stated
+W     +      present   present
+OT    +S     own       own
-S     +      excluded  subject
-W     +      excluded  present
-W     +T     present   present
-      +T     known     any
-      -T     excluded  any
"""


def a_memory_about_s(asker: str, other: str) -> MemoryView:
    """P and R have these relations to it, and nobody else who is near."""
    held = {P: asker, R: other}

    def who(relation: str) -> list[PersonId]:
        return [person for person, relations in held.items() if relation in relations]

    owner, stater = [*who("O"), cases.S][0], [*who("T"), cases.S][0]
    return a_memory(
        *(who("S") or [cases.S]),
        space=Space(SpaceKind.USER, owner[-1]),
        stated_by=stater,
        origin=MemoryOrigin.CHAT,
        learned_in=G1,
        witnesses=frozenset({cases.S, *who("W")}),
    )


@pytest.mark.amendment(1)
@pytest.mark.parametrize(
    ("asker", "other", "known", "anyone"),
    [line.split() for line in GROUP_ROW.split("\n") if line][1:],
)
def test_a_group_hears_of_those_who_are_confirmed(
    asker: str, other: str, known: str, anyone: str
) -> None:
    memory = a_memory_about_s(asker, other)
    confirmed = [person for person, word in ((P, asker), (R, other)) if word[0] == "+"]
    chat = a_group(*confirmed, humans=2)
    for settings, word in ((STRICT, known), (ANYONE, anyone)):
        told = decide_disclosure(memory, an_asker(), chat, settings)
        assert told == DisclosureDecision(word != "excluded", f"group.public.{word}")


@pytest.mark.amendment(1)
def test_an_agent_that_asks_for_nobody_hears_what_the_group_may() -> None:
    agent = AskerView(orgs=frozenset({ORG}))
    about_r, about_s = a_memory(R), a_memory(cases.S, space=Space(SpaceKind.USER, "s"))
    for memory, chat, word in (
        (about_r, a_group(R, Q), "known"),
        (about_s, a_group(P, Q), "excluded"),
        (about_r, a_group(P, humans=2), "excluded"),
    ):
        told = decide_disclosure(memory, agent, chat, STRICT)
        assert told == DisclosureDecision(word != "excluded", f"group.public.{word}")


@pytest.mark.amendment(1)
@pytest.mark.parametrize("humans", [0, 1])
def test_even_where_anyone_may_be_heard_of_a_group_of_one_is_no_larger_than_its_member(
    humans: int,
) -> None:
    memory = a_memory(cases.S, space=Space(SpaceKind.USER, "s"))
    chat = a_group(*[P][:humans])
    assert not decide_disclosure(memory, an_asker(), chat, ANYONE).allowed
    assert decide_disclosure(memory, an_asker(), a_group(P, humans=2), ANYONE).allowed


# Portable and origin, crossed. `table` stands for the tables above; who: `in` may read the space.
ORIGINS = """
portable  origin   setting  context  place     who   effect
yes       chat     open     private  there     in    table
yes       chat     open     private  away      out   table
yes       direct   open     private  away      out   table
yes       chat     open     group    away      out   table
yes       unknown  open     private  away      out   shown
yes       unknown  open     direct   away      out   shown
yes       unknown  open     group    away      out   table
yes       unknown  closed   private  away      out   origin.unknown
yes       unknown  closed   group    away      in    origin.unknown
yes       unknown  closed   direct   away      out   origin.unknown
yes       unknown  closed   direct   away      in    space.own
no        chat     open     private  there     out   table
no        chat     open     group    there     out   table
no        chat     open     private  away      in    portable.elsewhere
no        chat     open     group    away      in    portable.elsewhere
no        direct   open     private  away      in    portable.elsewhere
no        unknown  open     group    away      in    portable.elsewhere
no        unknown  open     private  there     in    portable.elsewhere
no        chat     open     direct   away      in    space.own
no        direct   open     direct   away      in    space.own
no        unknown  closed   direct   away      in    space.own
no        chat     open     direct   away      out   portable.elsewhere
no        unknown  open     direct   away      out   portable.elsewhere
"""
TABLE_RULES = {"private": "private.public.subject", "group": "group.public.subject"}


@pytest.mark.parametrize(
    ("portable", "origin", "setting", "context", "place", "who", "effect"),
    [line.split() for line in ORIGINS.split("\n") if line][1:],
)
def test_portable_and_origin_open_and_close_as_the_table_says(
    portable: str, origin: str, setting: str, context: str, place: str, who: str, effect: str
) -> None:
    chat = {"private": PRIVATE, "group": GROUP, "direct": None}[context]
    memory = a_memory(
        P,
        space=IN_P if who == "in" else IN_Q,
        portable=portable == "yes",
        origin=MemoryOrigin(origin),
        learned_in=chat.id if chat and place == "there" else G1,
    )
    rule = {"table": TABLE_RULES.get(context), "shown": "private.public.unknown_origin"}
    told = decide_disclosure(
        memory, an_asker(), chat, DisclosureSettings(unknown_origin=UnknownOrigin(setting))
    )
    assert told.rule == rule.get(effect, effect)
    assert told.allowed == (effect in ("table", "shown", "space.own"))


@pytest.mark.parametrize("sensitivity", [Sensitivity.PERSONAL, Sensitivity.SENSITIVE])
def test_an_unknown_origin_opens_nothing_personal(sensitivity: Sensitivity) -> None:
    memory = a_memory(Q, sensitivity=sensitivity, origin=MemoryOrigin.UNKNOWN)
    assert not decide_disclosure(memory, an_asker(), PRIVATE, STRICT).allowed
    assert not decide_disclosure(memory, an_asker(), None, STRICT).allowed


def test_an_unknown_origin_without_subjects_goes_by_the_table() -> None:
    memory = a_memory(origin=MemoryOrigin.UNKNOWN)
    told = decide_disclosure(memory, an_asker(), PRIVATE, STRICT)
    assert told == DisclosureDecision(False, "private.public.excluded")


@pytest.mark.parametrize("origin", [MemoryOrigin.DIRECT, MemoryOrigin.UNKNOWN])
def test_nobody_witnessed_what_was_not_learned_in_a_chat(origin: MemoryOrigin) -> None:
    memory = a_memory(origin=origin, learned_in=G1, witnesses=frozenset({P}))
    assert asker_relations(memory, an_asker(), None) == frozenset()


def test_nothing_is_told_across_orgs() -> None:
    stranger = an_asker(orgs=frozenset({OTHER_ORG}))
    for chat, space in product([None, PRIVATE, GROUP], [IN_Q, IN_G1]):
        memory = a_memory(P, space=space, stated_by=P)
        assert decide_disclosure(memory, stranger, chat, LENIENT) == DisclosureDecision(
            False, "org.other"
        )


def test_somebody_of_another_org_keeps_the_own_space_and_the_chats_taken_part_in() -> None:
    guest = an_asker(orgs=frozenset({OTHER_ORG}), chats=frozenset({G2}))
    assert decide_disclosure(a_memory(space=IN_P), guest, None, STRICT) == DisclosureDecision(
        True, "space.own"
    )
    assert decide_disclosure(a_memory(space=IN_G2), guest, GROUP, STRICT) == DisclosureDecision(
        True, "space.chat"
    )


def test_an_agent_that_asks_for_nobody_is_judged_by_its_own_org_and_chats() -> None:
    memory = a_memory(space=IN_G1, stated_by=Q)
    outside = AskerView(orgs=frozenset({OTHER_ORG}))
    colleague = AskerView(orgs=frozenset({ORG}))
    member = AskerView(orgs=frozenset({OTHER_ORG}), chats=frozenset({G1}))
    assert decide_disclosure(memory, outside, None, STRICT).rule == "org.other"
    assert decide_disclosure(memory, colleague, None, STRICT).rule == "private.public.excluded"
    assert decide_disclosure(memory, member, None, STRICT) == DisclosureDecision(True, "space.chat")


@pytest.mark.parametrize("kind", [SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT, SpaceKind.ORG])
@pytest.mark.parametrize("chat", [None, PRIVATE, GROUP], ids=["direct", "private", "group"])
@pytest.mark.parametrize("allows", [True, False])
def test_an_open_space_decides_alone(kind: SpaceKind, chat: ChatView | None, allows: bool) -> None:
    memory = a_memory(P, space=Space(kind, "x"), orgs=frozenset(), space_allows=allows)
    assert decide_disclosure(memory, an_asker(), chat, CLOSED) == DisclosureDecision(
        allows, "space.open"
    )


@pytest.mark.parametrize(
    ("kind", "rule"), [(SpaceKind.AGENT_PRIVATE, "space.agent"), (SpaceKind.RUN, "space.run")]
)
@pytest.mark.parametrize("sensitivity", Sensitivity)
def test_agent_and_run_spaces_decide_alone_and_speak_in_groups_of_public_things_only(
    kind: SpaceKind, rule: str, sensitivity: Sensitivity
) -> None:
    memory = a_memory(P, space=Space(kind, "x"), sensitivity=sensitivity, space_allows=True)
    public = sensitivity is Sensitivity.PUBLIC
    assert decide_disclosure(memory, an_asker(), None, STRICT) == DisclosureDecision(True, rule)
    assert decide_disclosure(memory, an_asker(), PRIVATE, STRICT) == DisclosureDecision(True, rule)
    assert decide_disclosure(memory, an_asker(), GROUP, LENIENT) == DisclosureDecision(public, rule)
    closed = replace(memory, space_allows=False)
    assert decide_disclosure(closed, an_asker(), None, STRICT) == DisclosureDecision(False, rule)


@pytest.mark.parametrize("sensitivity", Sensitivity)
def test_outside_any_chat_ones_own_space_is_shown_whatever_it_holds(
    sensitivity: Sensitivity,
) -> None:
    memory = a_memory(Q, space=IN_P, sensitivity=sensitivity, origin=MemoryOrigin.UNKNOWN)
    assert decide_disclosure(memory, an_asker(), None, CLOSED) == DisclosureDecision(
        True, "space.own"
    )


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"subjects": frozenset({Q})}, "space.chat"),
        ({"sensitivity": Sensitivity.PERSONAL}, "space.chat"),
        ({"sensitivity": Sensitivity.SENSITIVE}, "space.chat"),
        ({"sensitivity": Sensitivity.PERSONAL, "bare_names": True}, "group.personal.excluded"),
        ({"sensitivity": Sensitivity.PERSONAL, "subjects": {Q}}, "group.personal.excluded"),
        ({"sensitivity": Sensitivity.PERSONAL, "subjects": {P}}, "group.personal.subject"),
        ({"sensitivity": Sensitivity.SENSITIVE, "subjects": {P}}, "group.sensitive.excluded"),
    ],
)
def test_a_chats_own_memory_is_told_there_unless_it_is_private_to_its_subjects(
    facts: dict[str, Any], rule: str
) -> None:
    memory = replace(a_memory(space=IN_G2, origin=MemoryOrigin.CHAT, learned_in=G2), **facts)
    told = decide_disclosure(memory, an_asker(chats=frozenset({G2})), GROUP, STRICT)
    assert told == DisclosureDecision(not rule.endswith("excluded"), rule)


def test_a_chats_memory_is_shown_outside_any_chat_to_those_who_take_part_now() -> None:
    memory = a_memory(space=IN_G1, origin=MemoryOrigin.CHAT, learned_in=G1)
    member = an_asker(chats=frozenset({G1}))
    assert decide_disclosure(memory, member, None, STRICT) == DisclosureDecision(True, "space.chat")
    assert decide_disclosure(memory, an_asker(), None, STRICT).rule == "private.public.excluded"


def test_a_chats_memory_without_subjects_follows_its_members_into_private_chats_only() -> None:
    memory = a_memory(space=IN_G1, origin=MemoryOrigin.CHAT, learned_in=G1)
    member = an_asker(chats=frozenset({G1, G2}))
    told = decide_disclosure(memory, member, PRIVATE, STRICT)
    assert told == DisclosureDecision(True, "private.public.no_subjects")
    assert not decide_disclosure(memory, member, GROUP, STRICT).allowed


@pytest.mark.parametrize("chat", [None, PRIVATE, GROUP], ids=["direct", "private", "group"])
def test_what_is_over_is_hidden_before_anything_else(chat: ChatView | None) -> None:
    for space in (IN_P, IN_Q, IN_G2, Space(SpaceKind.AGENT_PUBLIC, "x")):
        memory = a_memory(P, space=space, space_allows=True, active=False)
        assert decide_disclosure(memory, an_asker(), chat, STRICT) == DisclosureDecision(
            False, "inactive"
        )


@pytest.mark.parametrize("chat", [None, PRIVATE, GROUP], ids=["direct", "private", "group"])
@pytest.mark.parametrize("origin", MemoryOrigin)
def test_who_is_meant_by_a_bare_name_is_unknown_so_nobody_outside_the_space_is_told(
    chat: ChatView | None, origin: MemoryOrigin
) -> None:
    learned: dict[str, Any] = {
        "origin": origin,
        "learned_in": G1,
        "witnesses": frozenset({P}),
        "stated_by": P,
    }
    memory = a_memory(P, bare_names=True, **learned)
    assert not decide_disclosure(memory, an_asker(), chat, LENIENT).allowed
    assert decide_disclosure(replace(memory, space=IN_P), an_asker(), chat, LENIENT).allowed


def test_a_sensitive_match_is_reported_as_withheld_to_its_subject_alone() -> None:
    memory = a_memory(Q, sensitivity=Sensitivity.SENSITIVE, origin=MemoryOrigin.CHAT, learned_in=G2)
    subject, other = an_asker(Q), an_asker(P)
    assert is_withheld(memory, subject, decide_disclosure(memory, subject, GROUP, STRICT))
    assert not is_withheld(memory, other, decide_disclosure(memory, other, GROUP, STRICT))
    assert not is_withheld(memory, subject, decide_disclosure(memory, subject, PRIVATE, STRICT))
    elsewhere = replace(memory, portable=False, learned_in=G1)
    assert not is_withheld(elsewhere, subject, decide_disclosure(elsewhere, subject, GROUP, STRICT))
    unclear = replace(memory, bare_names=True)
    assert not is_withheld(unclear, subject, decide_disclosure(unclear, subject, GROUP, STRICT))


# Memories about Q, stated by P in P's own space, as each sensitivity is told.
ABOUT_Q = """
situation                  public  personal  sensitive
private_with_Q             yes     yes       yes
group_asked_by_Q           yes     yes       -
group_asked_by_R_Q_there   yes     -         -
group_asked_by_R_P_there   yes     -         -
group_asked_by_R_Q_away    -       -         -
private_with_P             yes     yes       yes
private_with_R             -       -         -
"""


@pytest.mark.parametrize(
    ("situation", "public", "personal", "sensitive"),
    [line.split() for line in ABOUT_Q.split("\n") if line][1:],
)
def test_facts_about_somebody_by_situation(
    situation: str, public: str, personal: str, sensitive: str
) -> None:
    asker = {"Q": Q, "P": P}.get(situation[-1], R)
    there = {"Q_there": Q, "P_there": P}.get(situation[-7:], R)
    chat = a_group(*{there, R, asker}) if situation.startswith("group") else PRIVATE
    for sensitivity, word in zip(Sensitivity, (public, personal, sensitive), strict=True):
        memory = a_memory(Q, space=IN_P, sensitivity=sensitivity, stated_by=P)
        assert decide_disclosure(memory, an_asker(asker), chat, STRICT).allowed == (word == "yes")


def test_what_was_said_in_confidence_stays_in_that_private_chat() -> None:
    memory = a_memory(
        Q,
        space=Space(SpaceKind.USER, "r"),
        sensitivity=Sensitivity.PERSONAL,
        portable=False,
        stated_by=R,
        origin=MemoryOrigin.CHAT,
        learned_in=PRIVATE.id,
    )
    assert decide_disclosure(memory, an_asker(R), PRIVATE, STRICT).allowed
    for asker in (R, Q, P):
        assert not decide_disclosure(memory, an_asker(asker), GROUP, STRICT).allowed


def test_a_trait_follows_its_subject_and_chat_talk_does_not() -> None:
    said: dict[str, Any] = {
        "space": IN_P,
        "stated_by": P,
        "origin": MemoryOrigin.CHAT,
        "learned_in": G1,
    }
    loves_pizza = a_memory(Q, **said)
    presents_next = a_memory(Q, portable=False, **said)
    assert decide_disclosure(loves_pizza, an_asker(Q), PRIVATE, STRICT).allowed
    for asker, chat in product([P, Q, R], [PRIVATE, GROUP]):
        assert not decide_disclosure(presents_next, an_asker(asker), chat, STRICT).allowed
    group = a_group(Q, R, chat_id=G1)
    assert decide_disclosure(presents_next, an_asker(R), group, STRICT).allowed


def test_who_was_there_may_hear_it_again_and_who_was_not_may_not() -> None:
    memory = a_memory(
        Q,
        space=Space(SpaceKind.USER, "r"),
        stated_by=R,
        origin=MemoryOrigin.CHAT,
        learned_in=G1,
        witnesses=frozenset({P, R}),
    )
    later = an_asker(cases.S, chats=frozenset({G1}))
    there = decide_disclosure(memory, an_asker(P), PRIVATE, STRICT)
    assert there == DisclosureDecision(True, "private.public.present")
    assert not decide_disclosure(memory, later, PRIVATE, STRICT).allowed
    group = a_group(P, cases.S, chat_id=G1)
    assert decide_disclosure(memory, later, group, STRICT) == DisclosureDecision(
        True, "group.public.known"
    )
    for_newcomers = a_group(Q, cases.S, chat_id=G1)
    elsewhere = replace(memory, subjects=frozenset({P}))
    assert not decide_disclosure(elsewhere, later, for_newcomers, STRICT).allowed


def test_no_subjects_in_the_own_space_counts_in_a_group_and_in_another_chats_space_not() -> None:
    member = an_asker(chats=frozenset({G1, G2, PRIVATE.id}))
    no_subjects = frozenset({AskerRelation.NO_SUBJECTS})
    assert asker_relations(a_memory(space=IN_P), member, GROUP) == no_subjects | {AskerRelation.OWN}
    assert asker_relations(a_memory(space=IN_G2), member, GROUP) == no_subjects
    assert asker_relations(a_memory(space=IN_G1), member, GROUP) == frozenset()
    assert asker_relations(a_memory(space=IN_DM), member, GROUP) == frozenset()
    assert asker_relations(a_memory(space=IN_G1), member, PRIVATE) == no_subjects
    assert asker_relations(a_memory(space=IN_Q), member, PRIVATE) == frozenset()
