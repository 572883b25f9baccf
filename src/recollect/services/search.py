"""Search over conversations: what a caller may see, ranked by one rule on every engine."""

import asyncio
import base64
import hashlib
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from recollect.domain import questions, words
from recollect.domain.conversations import is_blank
from recollect.domain.events import EventKind
from recollect.domain.highlights import highlight, opening
from recollect.domain.ids import ConversationId, EntryId
from recollect.domain.jsontext import drop_unstorable
from recollect.domain.pages import unknown_cursor
from recollect.domain.questions import Question
from recollect.domain.search import Hit, SearchPage, SearchRequest, SearchType, Stage
from recollect.errors import EmbeddingFailed, SearchTypeUnavailable, VectorStoreDisabled
from recollect.policy.actions import Action
from recollect.policy.decide import visible
from recollect.policy.principals import Principal
from recollect.ports.database import Database, Tx
from recollect.ports.embedding import Embedder
from recollect.ports.runtime import Runtime
from recollect.ports.search import FoundEntry, SearchScope, Vector
from recollect.ports.stores import Stores
from recollect.services.audit import AuditName, Auditor
from recollect.services.corpora import Corpora
from recollect.services.gathering import NOBODY, Gathering
from recollect.services.ranking.corpus import Corpus
from recollect.services.ranking.dense import rank_semantic
from recollect.services.ranking.fulltext import rank_fulltext
from recollect.services.ranking.fusion import RankingOptions, rank_auto
from recollect.services.ranking.ranked import Ranked

# A corpus of more rows is ranked where nobody else waits for it.
_LIGHT_ROWS = 2_000
_POSITION = struct.Struct(">d16s8s")


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What a search is made of. Without an embedder there is no search by meaning."""

    corpora: Corpora
    gathering: Gathering
    embedder: Embedder | None
    fulltext: bool
    ranking: RankingOptions


@dataclass(frozen=True, slots=True)
class _Asked:
    """A search with whoever asks it: what a cursor is good for."""

    caller: str
    scope: SearchScope
    request: SearchRequest

    @property
    def fingerprint(self) -> bytes:
        scope, request = self.scope, self.request
        parts = (
            request.query,
            request.type.value,
            str(request.group_by_conversation),
            self.caller,
            scope.scope.reach.value,
            repr(scope.owner_user_id),
            str(scope.include_deleted),
        )
        text = "\0".join(parts).encode(errors="surrogatepass")
        return hashlib.blake2b(text, digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class _Answer:
    """A ranking, the corpus it is of, and what it could not look at."""

    corpus: Corpus
    ranked: Ranked
    failed: Sequence[Stage]


@dataclass(frozen=True, slots=True)
class _Place:
    """One result before it is shown."""

    score: float
    entry_id: EntryId
    conversation_id: ConversationId
    matched: bool


class SearchService:
    """By words, by meaning, or by both."""

    def __init__(
        self, database: Database, stores: Stores, runtime: Runtime, parts: SearchParts
    ) -> None:
        self._database = database
        self._stores = stores
        self._parts = parts
        self._auditor = Auditor(stores, runtime)

    async def search(self, principal: Principal, request: SearchRequest) -> SearchPage:
        """Over the trees where the caller is a member."""
        scope = SearchScope(visible(principal, Action.READ))
        return await self._search(_Asked(principal.user_id, scope, request))

    async def search_all(
        self,
        principal: Principal,
        request: SearchRequest,
        *,
        user_id: str | None,
        include_deleted: bool,
        justification: str | None,
    ) -> SearchPage:
        """Over all trees, or those of one owner. The event holds no word of the query."""
        name = AuditName(EventKind.ADMIN_READ, "searchConversations")
        params = {"includeDeleted": True} if include_deleted else {}

        def record(tx: Tx) -> None:
            self._auditor.record_admin(
                tx,
                principal,
                name,
                justification=justification,
                target_user_id=user_id,
                params=params,
            )

        await self._database.write(record)
        scope = SearchScope(visible(principal, Action.ADMIN_READ), user_id, include_deleted)
        return await self._search(_Asked(principal.user_id, scope, request))

    async def _search(self, asked: _Asked) -> SearchPage:
        request = asked.request
        self._require(request.type)
        after = _position(asked, request.after) if request.after else None
        text = drop_unstorable(request.query)
        if is_blank(text):
            return SearchPage([])
        answer = await self._answer(asked, text)
        found = _after(answer, after, request)
        shown = found[: request.limit]
        more = _cursor(asked, shown[-1]) if len(found) > request.limit else None
        return SearchPage(await self._show(asked, shown, text), more, answer.failed)

    def _require(self, type_: SearchType) -> None:
        available = [SearchType.FULLTEXT] if self._parts.fulltext else []
        if self._parts.embedder is not None:
            available.append(SearchType.SEMANTIC)
        if not available:
            raise VectorStoreDisabled("no search type is switched on here")
        if type_ is not SearchType.AUTO and type_ not in available:
            raise SearchTypeUnavailable(
                f"searchType {type_.value} is switched off here", [one.value for one in available]
            )

    async def _answer(self, asked: _Asked, text: str) -> _Answer:
        type_, parts = asked.request.type, self._parts
        corpus = await parts.corpora.get(asked.scope)
        speakers = NOBODY
        if corpus is None and type_ is SearchType.AUTO:
            speakers = await parts.gathering.speakers(asked.scope, text)
        question = questions.read(text, speakers.ids if corpus is None else corpus.speakers)
        if not parts.fulltext:
            question = replace(question, words=())
        vector, failed = await self._embed(type_, question)
        if corpus is None:
            gathered = await parts.gathering.gather(asked.scope, type_, question, vector, speakers)
            corpus, failed = gathered.corpus, [*failed, *gathered.failed]
        ranked = await _off_the_loop(
            corpus.size, lambda: self._rank(asked, corpus, question, vector)
        )
        return _Answer(corpus, ranked, failed)

    async def _embed(
        self, type_: SearchType, question: Question
    ) -> tuple[Vector | None, Sequence[Stage]]:
        embedder = self._parts.embedder
        if embedder is None or type_ is SearchType.FULLTEXT:
            return None, []
        text = question.dense if type_ is SearchType.AUTO else question.text
        try:
            return await embedder.embed_query(text), []
        except EmbeddingFailed:
            return None, [Stage.EMBEDDING]

    def _rank(
        self, asked: _Asked, corpus: Corpus, question: Question, vector: Vector | None
    ) -> Ranked:
        options = self._parts.ranking
        if asked.request.type is SearchType.FULLTEXT:
            return rank_fulltext(corpus, question.text)
        if asked.request.type is SearchType.AUTO:
            return rank_auto(corpus, question, vector, asked.caller, options)
        if vector is None:
            return _NOTHING
        return rank_semantic(corpus, vector, min_score=options.min_score)

    async def _show(self, asked: _Asked, places: Sequence[_Place], text: str) -> list[Hit]:
        """What is shown is read under the scope once more: a ranking may be a moment old."""
        if not places:
            return []
        ids = [place.entry_id for place in places]
        found = await self._database.read(lambda tx: self._stores.search.find(tx, asked.scope, ids))
        marked = _marked_words(asked.request.type, text)
        return [
            _hit(place, found[place.entry_id], asked.request, marked)
            for place in places
            if place.entry_id in found
        ]


_NOTHING = Ranked(np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.bool_))


def _after(
    answer: _Answer, after: tuple[float, str] | None, request: SearchRequest
) -> list[_Place]:
    """The results behind a position, one more than the page holds."""
    corpus, ranked = answer.corpus, answer.ranked
    seen: set[str] = set()
    found: list[_Place] = []
    for row, score, matched in zip(
        ranked.rows.tolist(), ranked.scores.tolist(), ranked.matched.tolist(), strict=True
    ):
        conversation_id = corpus.conversation_ids[row]
        if request.group_by_conversation:
            if conversation_id in seen:
                continue
            seen.add(conversation_id)
        entry_id = corpus.entry_ids[row]
        if after is not None and (score, entry_id) >= after:
            continue
        found.append(_Place(score, EntryId(entry_id), ConversationId(conversation_id), matched))
        if len(found) > request.limit:
            break
    return found


def _marked_words(type_: SearchType, text: str) -> list[str]:
    """The words that highlights mark."""
    tokens = words.query_tokens(text)
    if type_ is SearchType.FULLTEXT:
        return tokens
    return [token for token in tokens if token not in words.STOP] or tokens


def _hit(place: _Place, found: FoundEntry, request: SearchRequest, marked: Sequence[str]) -> Hit:
    shown = None
    if place.matched:
        shown = highlight(found.text, marked, prefix=request.type is SearchType.FULLTEXT)
    return Hit(
        conversation_id=place.conversation_id,
        entry_id=place.entry_id,
        score=place.score,
        conversation_title=found.title,
        highlights=shown or opening(found.text),
        entry=found.entry if request.include_entry else None,
    )


def _cursor(asked: _Asked, last: _Place) -> str:
    raw = _POSITION.pack(last.score, UUID(last.entry_id).bytes, asked.fingerprint)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _position(asked: _Asked, cursor: str) -> tuple[float, str]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        raw = base64.b64decode(padded, altchars=b"-_", validate=True)
        score, entry_id, fingerprint = _POSITION.unpack(raw)
    except (ValueError, struct.error):
        raise unknown_cursor() from None
    if fingerprint != asked.fingerprint:
        raise unknown_cursor()
    return score, str(UUID(bytes=entry_id))


async def _off_the_loop(rows: int, work: Callable[[], Ranked]) -> Ranked:
    return work() if rows <= _LIGHT_ROWS else await asyncio.to_thread(work)
