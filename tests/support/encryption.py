"""Keys for encryption at rest, as settings take them."""

import base64

KEY_A = {"id": "a", "key": base64.b64encode(bytes(range(32))).decode()}
KEY_B = {"id": "b", "key": base64.b64encode(bytes(range(32, 64))).decode()}
MARKER = "\u0001"
