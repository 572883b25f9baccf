"""The ids and words of the examples in the OpenAPI documents.

All examples together tell one story, so that the id in one is the id in another. A test tells the
story to a server.
"""

USER_ID = "ann"
OTHER_USER_ID = "bob"
CLIENT_ID = "support-app"
AGENT_ID = "helper"
RUN_ID = "run-1"
CHAT_ID = "team-chat"

CONVERSATION_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e101"
ENTRY_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e102"
TRANSFER_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e103"
API_KEY_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e104"
EVENT_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e105"
MEMORY_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e106"
OTHER_MEMORY_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e107"
PERSON_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e108"
OTHER_PERSON_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e109"
CLAIM_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e10a"
ENTITY_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e10b"
RELATION_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e10c"
APPROVAL_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e10d"
ERASURE_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e10e"
ROLLBACK_ID = "0199c1f4-2a00-7c3e-8f01-5d2a90b7e10f"

INSTANT_EXAMPLE = "2026-03-01T09:00:00.000000Z"
