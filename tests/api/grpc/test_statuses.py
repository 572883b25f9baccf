"""How errors are told: a status, REST's word in `error-code`, and nothing that is nobody's
business."""

import asyncio

import grpc
import pytest
from structlog.testing import capture_logs

from recollect.kernel.errors import (
    Conflict,
    EmptyEntry,
    Forbidden,
    Internal,
    InvalidInput,
    JustificationRequired,
    LimitExceeded,
    NotFound,
    RecollectError,
    RequestStillRunning,
    SearchTypeUnavailable,
    TransferPending,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
    VectorStoreDisabled,
)
from tests.api.fakes import ID, seen
from tests.api.grpc.adapter import ANN, SECONDS_MAX, Adapter
from tests.api.grpc.client import Answer

GET = "ConversationsService/GetConversation"
ROUTE = f"/memory.v1.{GET}"
Code = grpc.StatusCode
SECRET = "a driver's words"


def asked(adapter: Adapter, *metadata: tuple[str, str]) -> Answer:
    """A call that reaches a service."""
    return adapter.client.ask((*ANN, *metadata), GET, conversation_id=ID)


def refused(adapter: Adapter, error: BaseException, *metadata: tuple[str, str]) -> Answer:
    """The same where the service raises."""
    adapter.fakes.conversations.answers["get"] = error
    return asked(adapter, *metadata)


@pytest.mark.parametrize(
    ("error", "code", "word", "status"),
    [
        (InvalidInput("m", field="f"), Code.INVALID_ARGUMENT, "bad_request", 400),
        (ValidationFailed.for_field("f", "m"), Code.INVALID_ARGUMENT, "validation_error", 400),
        (EmptyEntry("m"), Code.INVALID_ARGUMENT, "invalid_request", 400),
        (JustificationRequired(), Code.INVALID_ARGUMENT, "JUSTIFICATION_REQUIRED", 400),
        (Unauthenticated("m"), Code.UNAUTHENTICATED, "unauthorized", 401),
        (Forbidden("m"), Code.PERMISSION_DENIED, "forbidden", 403),
        (NotFound("entry", ID), Code.NOT_FOUND, "not_found", 404),
        (Conflict("m"), Code.FAILED_PRECONDITION, "conflict", 409),
        (TransferPending(ID), Code.ALREADY_EXISTS, "TRANSFER_ALREADY_PENDING", 409),
        (LimitExceeded("m"), Code.RESOURCE_EXHAUSTED, "payload_too_large", 413),
        (Internal(SECRET), Code.INTERNAL, "internal_error", 500),
        (RuntimeError(SECRET), Code.INTERNAL, "internal_error", 500),
        (
            SearchTypeUnavailable("m", ["fulltext"]),
            Code.UNIMPLEMENTED,
            "search_type_unavailable",
            501,
        ),
        (VectorStoreDisabled(), Code.UNIMPLEMENTED, "vector_store_disabled", 501),
        (Unavailable("m"), Code.UNAVAILABLE, "unavailable", 503),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_every_error_has_its_status_and_its_word(
    adapter: Adapter, error: Exception, code: grpc.StatusCode, word: str, status: int
) -> None:
    text = refused(adapter, error).refused(code, word)
    assert SECRET not in text
    if isinstance(error, RecollectError) and status != 500:
        assert text == error.message
    assert adapter.measured(1) == [("GRPC", ROUTE, status)]


def test_what_is_unexpected_is_logged_once_under_the_id_that_the_caller_gets(
    adapter: Adapter,
) -> None:
    with capture_logs() as lines:
        answer = refused(adapter, RuntimeError(SECRET), ("x-request-id", "abc-1"))
        adapter.measured(1)
    assert answer.trailers["x-request-id"] == "abc-1"
    assert [line["log_level"] for line in lines] == ["error"]
    assert adapter.fakes.requests.lines == [("abc-1", "GRPC", ROUTE, 500)]


def test_a_pending_transfer_is_named(adapter: Adapter) -> None:
    adapter.fakes.transfers.answers["create"] = TransferPending(ID)
    answer = adapter.client.ask(
        ANN,
        "OwnershipTransfersService/CreateOwnershipTransfer",
        conversation_id=ID,
        new_owner_user_id="bob",
    )
    answer.refused(Code.ALREADY_EXISTS, "TRANSFER_ALREADY_PENDING")
    assert answer.trailers["existing-transfer-id"] == ID
    assert "existing-transfer-id" not in refused(adapter, Conflict("m")).trailers


def test_who_is_to_come_back_is_told_when(adapter: Adapter) -> None:
    """As `Retry-After` does over REST; nobody else is told to."""
    late = refused(adapter, Unavailable("m", retry_after_seconds=7))
    assert late.trailers["retry-after"] == "7"
    assert refused(adapter, RequestStillRunning("m")).trailers["retry-after"] == "1"
    for error in (Conflict("m"), LimitExceeded("m"), RuntimeError(SECRET)):
        assert "retry-after" not in refused(adapter, error).trailers


def test_texts_of_any_language_arrive_as_they_are(adapter: Adapter) -> None:
    text = "Größe über 日本 🎉\nand a second line"
    assert refused(adapter, Forbidden(text)).text == text


def test_every_call_is_measured_and_written_down(adapter: Adapter) -> None:
    asked(adapter, ("x-request-id", "mine")).expect()
    adapter.client.ask((), GET, conversation_id=ID)
    assert adapter.measured(2) == [("GRPC", ROUTE, 200), ("GRPC", ROUTE, 401)]
    first, second = adapter.fakes.requests.lines
    assert first == ("mine", "GRPC", ROUTE, 200)
    assert (len(second[0]), second[1:]) == (32, ("GRPC", ROUTE, 401))


def test_a_call_that_its_caller_gave_up_is_written_down_as_such(adapter: Adapter) -> None:
    held = adapter.hold(adapter.fakes.conversations, "get", seen())
    call = adapter.client.begin(ANN, GET, conversation_id=ID)
    held.wait()
    call.cancel()
    assert adapter.measured(1) == [("GRPC", ROUTE, 499)]


def test_a_call_under_way_is_answered_before_the_server_stops(adapter: Adapter) -> None:
    held = adapter.hold(adapter.fakes.conversations, "get", seen(title="kept"))
    call = adapter.client.begin(ANN, GET, conversation_id=ID)
    held.wait()
    stopping = adapter.begin_stop(SECONDS_MAX)
    held.let_go()
    assert call.result(SECONDS_MAX).title == "kept"
    stopping.result(SECONDS_MAX)


def test_a_call_that_outlasts_the_grace_is_told_to_try_again(adapter: Adapter) -> None:
    held = adapter.hold(adapter.fakes.conversations, "get", seen())
    call = adapter.client.begin(ANN, GET, conversation_id=ID)
    held.wait()
    adapter.begin_stop(0).result(SECONDS_MAX)
    assert call.code() is Code.UNAVAILABLE
    assert adapter.measured(1) == [("GRPC", ROUTE, 503)]


def test_work_that_is_cancelled_within_ends_the_call(adapter: Adapter) -> None:
    answer = refused(adapter, asyncio.CancelledError())
    answer.refused(Code.UNAVAILABLE, "unavailable")
