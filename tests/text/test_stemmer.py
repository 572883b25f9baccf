"""English stems, by hand and against another implementation."""

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.stemmer import porter_stem

BY_HAND = """
    caresses caress   ponies poni       ties ti            caress caress     cats cat
    feed feed         agreed agre       plastered plaster  bled bled         motoring motor
    sing sing         conflated conflat troubled troubl    sized size        hopping hop
    tanned tan        falling fall      hissing hiss       fizzed fizz       failing fail
    filing file       happy happi       sky sky            relational relat  conditional condit
    rational ration   digitizer digit   operator oper      feudalism feudal  decisiveness decis
    hopefulness hope  callousness callous sensitivity sensit sensibility sensibl
    triplicate triplic formative form   formalize formal   electrical electr hopeful hope
    goodness good     revival reviv     allowance allow    inference infer   airliner airlin
    gyroscopic gyroscop adjustable adjust defensible defens irritant irrit
    replacement replac adjustment adjust dependent depend  adoption adopt    communism commun
    activate activ    homologous homolog effective effect  probate probat    rate rate
    cease ceas        controlling control rolling roll     generalizations gener
    by by             as as             possibly possibl   archaeology archaeolog    yes ye
    nation nation     onion onion       family famili      families famili   running run
"""
SUFFIXES = """
    s es ies sses ss ed eed ing ational tional ization ation ator alism iveness fulness ousness
    aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant
    ement ment ent sion tion ion ou ism ate iti ous ive ize e l ll y at bl iz
"""


def test_stems_equal_those_found_by_hand() -> None:
    words = BY_HAND.split()
    assert [porter_stem(word) for word in words[::2]] == words[1::2]


@pytest.fixture(scope="module")
def index() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute("create virtual table word using fts5(text, tokenize='porter ascii')")
    connection.execute("create virtual table term using fts5vocab(word, 'row')")
    yield connection
    connection.close()


# Nothing but an ending ("ies", "sses") is no word; SQLite leaves some of them alone.
letters = st.text("abcdefghijklmnopqrstuvwxyz", min_size=5, max_size=20)
suffixed = st.builds(
    lambda start, ends: start + "".join(ends),
    st.text("aeiouybctlsnrz", min_size=2, max_size=6),
    st.lists(st.sampled_from(SUFFIXES.split()), min_size=1, max_size=3),
)


# Whether the second of two y is a vowel, the two answer differently; no word has two.
@given((letters | suffixed).filter(lambda word: len(word) > 4 and "yy" not in word))
def test_stems_equal_those_of_the_database(index: apsw.Connection, word: str) -> None:
    index.execute("delete from word")
    index.execute("insert into word(text) values (?)", (word,))
    assert index.execute("select term from term").fetchall() == [(porter_stem(word),)]
