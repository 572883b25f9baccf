"""What of a text is shown, and what of it is marked."""

import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from recollect.search import highlights
from recollect.search.highlights import highlight, text_opening
from recollect.text.tokens import query_tokens, stem, tokens

texts = st.text(
    st.sampled_from("abc 'é’ñ-, 漢字かなไทย你 🇫🇷👍🏽👩‍💻❤️ क़ कि \n" + "x" * 4), max_size=400
)


def found(text: str, query: str) -> str | None:
    return highlight(text, query_tokens(query), prefix=True)


def stemmed(text: str, query: str) -> str | None:
    return highlight(text, [stem(word) for word in tokens(query)], prefix=False)


def padded(middle: str) -> str:
    return " ".join(
        [*(f"before{n}" for n in range(300)), middle, *(f"after{n}" for n in range(300))]
    )


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("My dogs bark.", "DOG", "My **dogs** bark."),
        ("Caroline's dog isn't here", "caroline isn’t", "**Caroline's** dog **isn't** here"),
        ("au CAFÉ, l'école", "cafe ecole", "au **CAFÉ**, l'**école**"),
        ("cafe\u0301s", "café", "**cafe\u0301s**"),
        ("猫が好き。犬も好き。", "好き", "猫が**好き**。犬も**好き**。"),
        ("猫が好き", "猫", "**猫**が好き"),
        ("ดื่มน้ำ", "น้ำ", "ดื่ม**น้ำ**"),
        ("ok 👍🏽 👩‍💻 🇫🇷!", "👍💻🇫🇷", "ok **👍🏽** **👩‍💻** **🇫🇷**!"),
        ("snake_case", "case", "snake_**case**"),
    ],
)
def test_matching_words_are_marked(text: str, query: str, expected: str) -> None:
    assert found(text, query) == expected


def test_prefixes_and_stems_are_two_ways_to_match() -> None:
    assert found("running runs runaway", "runn") == "**running** runs runaway"
    assert stemmed("running runs runaway", "run") == "**running** **runs** runaway"
    assert highlight("ponies", ["ponies"], prefix=False) == "**ponies**"


def test_nothing_matching_is_none() -> None:
    assert found("My dogs bark", "cat") is None
    assert found("My dogs bark", "ogs") is None
    assert found("", "cat") is None
    assert highlight("My dogs bark", [], prefix=True) is None
    assert stemmed("catalogue", "cat") is None


def test_the_densest_group_is_shown_with_what_is_around_it() -> None:
    text = padded("dog") + padded("the dog saw a cat") + padded("dog dog")
    shown = found(text, "dog cat") or ""
    assert "the **dog** saw a **cat**" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert 20 <= len(shown.split()) <= 50


@given(st.integers(51, 300), st.data())
def test_a_long_text_gives_20_to_50_words(count: int, data: st.DataObject) -> None:
    words = [f"word{n}" for n in range(count)]
    place = data.draw(st.integers(0, count - 1))
    words[place] = "needle"
    shown = found(" ".join(words), "needle") or ""
    assert "**needle**" in shown
    assert 20 <= len(shown.split()) <= 50
    assert shown.startswith("…") != (words[0] in shown.replace("*", "").split())
    assert shown.endswith("…") != (words[-1] in shown.replace("*", "").split())


def test_a_long_run_without_spaces_gives_up_to_200_characters() -> None:
    shown = found("漢字" * 300 + "猫好" + "仮名" * 300, "猫好") or ""
    assert "**猫好**" in shown
    assert 80 <= len(shown) <= 210


@given(texts, st.data())
@example("a" * 1000, None)
def test_what_is_shown_is_a_piece_of_the_text(text: str, data: st.DataObject | None) -> None:
    held = tokens(text)
    assume(held)
    token = data.draw(st.sampled_from(held)) if data else held[0]
    shown = highlight(text, [token], prefix=True)
    if shown is not None:
        assert shown.replace("**", "").strip("…").strip() in text
        assert len(shown) <= 1000


@given(st.text(st.sampled_from("abé 漢字かな'-👍 x"), max_size=200))
def test_each_word_of_a_text_finds_it(text: str) -> None:
    for token in tokens(text):
        assert "**" in (highlight(text, [token], prefix=True) or "")
        assert "**" in (highlight(text, [token], prefix=False) or "")


def test_endless_words_and_gaps_are_cut() -> None:
    assert len(found("a" * 100_000, "aaa") or "") <= 210
    assert found(" " * 50_000 + "a" + " " * 50_000, "a") == "…**a**…"
    assert len(found(("b" * 150 + " ") * 500 + "a " + ("c" * 150 + " ") * 500, "a") or "") <= 610


@pytest.mark.parametrize(
    "hostile",
    [
        "word " * 20_000,
        "漢字かな" * 25_000,
        "".join(map(chr, range(0x4E00, 0x9FFF))) * 5,
        "ก\u0e34" * 50_000,
        "a\u0301\u0323" * 33_000,
        "👩‍💻" * 33_000,
        "🇫🇷" * 50_000,
        "a's" * 33_000,
    ],
    ids=["words", "kanji", "many kanji", "thai", "marks", "emoji", "flags", "endings"],
)
def test_no_text_takes_more_than_linear_time(hostile: str) -> None:
    query = [*tokens(hostile[:40]), *(f"q{n}" for n in range(1000))]
    started = time.process_time()
    highlight(hostile, query, prefix=True)
    highlight(hostile, query, prefix=False)
    text_opening(hostile)
    assert time.process_time() - started < 4


@given(st.text(max_size=500))
def test_the_opening_is_at_most_200_characters_from_the_start(text: str) -> None:
    assert text.startswith(text_opening(text))
    assert len(text_opening(text)) <= 200
    assert len(text_opening(text)) >= min(len(text), 100)


@pytest.mark.parametrize("sign", ["e\u0301", "👍🏽", "👩‍💻", "🇫🇷", "❤️"])
def test_the_opening_splits_no_sign(sign: str) -> None:
    for lead in range(4):
        rest = text_opening("x" * lead + sign * 150)[lead:]
        assert rest == sign * (len(rest) // len(sign))


def test_a_pile_of_marks_does_not_empty_the_opening() -> None:
    assert len(text_opening("a" + "\u0301" * 1000)) == 200


# NUL is stored nowhere.
ascii_texts = st.text(st.characters(min_codepoint=1, max_codepoint=127), max_size=120)
contracted = st.text(st.sampled_from("dn'tTsSveLl _-1x."), max_size=30)


@given(ascii_texts | contracted)
def test_ascii_is_parted_like_any_text(text: str) -> None:
    match = highlights._stem_matcher(["running", "dont", "s", "1"])
    fast, slow = highlights._ascii_units(text, match), highlights._unicode_units(text, match)
    assert list(fast) == list(slow)


@pytest.mark.parametrize("word", ["sardines", "猫好", "Сосед"])
def test_a_word_far_into_a_long_text_is_shown_without_looking_at_each_one(word: str) -> None:
    text = "alpha beta gamma delta " * 4_000 + word + " omega psi" * 50
    started = time.process_time()
    shown = found(text, word) or ""
    assert f"**{word}**" in shown
    assert len(shown) < 700
    assert time.process_time() - started < 0.1
