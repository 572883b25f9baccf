"""A corpus that is a part of a larger one: what it ranks has the scores it has there."""

from recollect.search.entries.corpus import WholeScope
from recollect.search.ranking.cosine import rank_semantic
from recollect.search.ranking.prefix_match import rank_fulltext
from tests.search.ranking.corpora import SampleText, a_corpus, ask, entry_id, scores, towards

WHOLE = WholeScope(names=(), has_assistant=False)
TALK = [
    SampleText(1, "the ferry leaves at noon", vector=towards(1, 0)),
    SampleText(2, "from which pier, I wonder", vector=towards(0, 1)),
    SampleText(3, "the ferry leaves from the second one", vector=towards(1, 1)),
    SampleText(4, "there is a train as well", vector=towards(0, 1)),
    SampleText(5, "a train to the ferry", vector=towards(1, 3)),
]


def test_unranked_neighbours_count_in_scores_but_are_not_found() -> None:
    whole = a_corpus(*TALK)
    part = a_corpus(*TALK[:4]).as_part(WHOLE, unranked=[entry_id(2), entry_id(4)])
    for vector in (None, towards(1, 0)):
        every = scores(whole, ask(whole, "when does the ferry leave?", vector))
        found = scores(part, ask(part, "when does the ferry leave?", vector))
        assert found == {number: every[number] for number in (1, 3)}
    assert set(scores(part, rank_semantic(part, towards(0, 1), min_score=-1.0))) == {1, 3}
    assert set(scores(part, rank_fulltext(part, "train"))) == set()
    assert part.size == 2


def test_who_speaks_elsewhere_is_known_by_name() -> None:
    turns = [
        SampleText(1, "a letter for dora and cora", by="ann"),
        SampleText(2, "the letter", by="ann", chat=2),
        SampleText(3, "hello", by="cora", chat=3),
        SampleText(4, "hello", by="dora", chat=4),
    ]
    whole = a_corpus(*turns)
    part = a_corpus(*turns[:2]).as_part(WholeScope(names=whole.speakers, has_assistant=False))
    alone = a_corpus(*turns[:2])
    query = "dora's, cora's"
    assert scores(part, ask(part, query)) == scores(whole, ask(whole, query))
    assert part.speaker_stems == whole.speaker_stems != alone.speaker_stems


def test_an_assistant_elsewhere_is_whom_a_question_means() -> None:
    mine = SampleText(1, "I suggest a boat")
    theirs = SampleText(2, "here you are", chat=2, assistant=True)
    whole, alone = a_corpus(mine, theirs), a_corpus(mine)
    part = alone.as_part(WholeScope(names=whole.speakers, has_assistant=True))
    query = "which boat did you suggest to me?"
    assert scores(part, ask(part, query))[1] == scores(whole, ask(whole, query))[1]
    assert not alone.has_assistant
