"""REST handlers of ownership transfers."""

from recollect.conversations.bodies import NewTransfer
from recollect.conversations.render import to_transfer
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.http.call import Call, Handler
from recollect.kernel.ids import ConversationId, TransferId, UserId


async def list_ownership_transfers(call: Call) -> bytes:
    page = await call.services[TransferService].list(
        call.principal,
        role=call.query["role"],
        after=call.page.after,
        limit=call.page.limit,
    )
    return call.render_page(map(to_transfer, page.items), page.next_cursor)


async def create_ownership_transfer(call: Call) -> str:
    """Offer a tree to a member."""
    body: NewTransfer = call.body
    transfer = await call.services[TransferService].create(
        call.principal, ConversationId(body.conversation_id), UserId(body.new_owner_user_id)
    )
    return to_transfer(transfer)


async def get_ownership_transfer(call: Call) -> str:
    transfer = await call.services[TransferService].get(call.principal, _path_transfer_id(call))
    return to_transfer(transfer)


async def accept_ownership_transfer(call: Call) -> None:
    """Become the owner."""
    await call.services[TransferService].accept(call.principal, _path_transfer_id(call))


async def delete_ownership_transfer(call: Call) -> None:
    """Cancel or reject."""
    await call.services[TransferService].delete(call.principal, _path_transfer_id(call))


def _path_transfer_id(call: Call) -> TransferId:
    return TransferId(call.path["transferId"])


HANDLERS: dict[str, Handler] = {
    "listOwnershipTransfers": list_ownership_transfers,
    "createOwnershipTransfer": create_ownership_transfer,
    "getOwnershipTransfer": get_ownership_transfer,
    "acceptOwnershipTransfer": accept_ownership_transfer,
    "deleteOwnershipTransfer": delete_ownership_transfer,
}
