"""What a question says about its answer."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.search.query import Question, parse_question, speaker_names
from recollect.text.tokens import STOP_WORDS

SPEAKERS = {"caroline": "Caroline@c", "caro": "Caroline@c", "james": "James@c", "josé": "jose@c"}
anything = st.text(st.characters(), max_size=60)


def asked(text: str) -> Question:
    return parse_question(text, SPEAKERS)


def test_the_one_named_speaker_is_taken_out() -> None:
    question = asked("When did Caroline adopt Caro's dogs?")
    assert question.speaker == "Caroline@c"
    assert question.words == ("adopt", "dog")
    assert question.dense == "When did I adopt my dogs?"
    assert question.text == "When did Caroline adopt Caro's dogs?"
    assert question.asks_when


@pytest.mark.parametrize(
    ("text", "dense"),
    [
        ("CAROLINE’S car", "my car"),
        ("James' car, James's hat", "my car, my hat"),
        ("Jose\u0301's car, jose", "my car, I"),
        ("Carolines car, Caroline.", "Carolines car, I."),
    ],
)
def test_a_name_becomes_the_first_person_however_it_is_written(text: str, dense: str) -> None:
    assert asked(text).dense == dense


def test_of_two_named_speakers_neither_is_searched_for_nor_meant_to_speak() -> None:
    question = asked("What did Caroline tell James?")
    assert question.speaker is None
    assert question.words == ("tell",)
    assert question.dense == question.text
    assert not question.of_self


def test_a_question_of_nothing_but_names_and_stop_words_keeps_them_all() -> None:
    assert asked("Who is Caroline?").words == ("who", "is", "carolin")
    assert asked("who are you").words == ("who", "ar", "you")
    assert asked("?!").words == ()


def test_words_are_distinct() -> None:
    assert asked("run, Running, runs").words == ("run",)


def test_a_name_in_a_script_without_spaces_is_found() -> None:
    question = parse_question("田中さんは何が好きですか", {"田中": "tanaka@c"})
    assert question.speaker == "tanaka@c"
    assert question.dense == question.text


@pytest.mark.parametrize(
    "text", ["What is my dog's name?", "Where did I go", "did we meet", "I'm who?"]
)
def test_first_person_asks_of_oneself(text: str) -> None:
    assert asked(text).of_self


@pytest.mark.parametrize("text", ["Who am?", "Caroline and I", "What does US law say", "mystery"])
def test_others_are_not_oneself(text: str) -> None:
    assert not asked(text).of_self


@pytest.mark.parametrize(
    "text",
    [
        "What did you suggest for the trip?",
        "Which hotel did you previously recommend?",
        "the list you gave me",
        "You told me about a book",
        "you've mentioned a film",
        "what was your recommendation",
        "What did the assistant say about rice?",
        "Remind me of the shop we talked about",
    ],
)
def test_what_the_assistant_said_is_asked_for(text: str) -> None:
    assert asked(text).of_assistant


@pytest.mark.parametrize(
    "text",
    [
        "Can you suggest a hotel?",
        "Could you tell me where I live?",
        "Remind me what my dog is called",
        "What did she suggest?",
        "What did I tell you?",
        "",
    ],
)
def test_other_questions_ask_nothing_of_the_assistant(text: str) -> None:
    assert not asked(text).of_assistant


@given(anything)
@example("\0\ud800")
def test_any_text_is_a_question(text: str) -> None:
    question = parse_question(text, SPEAKERS)
    question.text.encode()
    question.dense.encode()
    assert len(set(question.words)) == len(question.words)
    assert all(question.words)


@given(anything)
def test_without_speakers_the_question_is_embedded_as_asked(text: str) -> None:
    question = parse_question(text, {})
    assert question.speaker is None
    assert question.dense == question.text


@pytest.mark.parametrize(
    ("user_id", "names"),
    [
        ("Caroline@conv-26", ["caroline"]),
        ("ann.smith@example.org", ["ann"]),
        ("ann_smith", ["ann"]),
        ("Ann Smith", ["ann"]),
        ("@ann:example.org", ["ann"]),
        ("José", ["jose"]),
        ("田中@example.org", ["田中"]),
        ("user-17", []),
        ("assistant", []),
        ("will@example.org", []),
        ("12345", []),
        ("j.smith", []),
        ("", []),
        ("@", []),
    ],
)
def test_names_of_a_user_id(user_id: str, names: list[str]) -> None:
    assert speaker_names(user_id) == names


@given(anything)
def test_a_name_can_be_called_and_is_no_stop_word(user_id: str) -> None:
    for name in speaker_names(user_id):
        assert name not in STOP_WORDS
        assert parse_question(f"What does {name} like?", {name: "x"}).speaker == "x"
