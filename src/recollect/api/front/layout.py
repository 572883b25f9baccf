"""What the pages have in common: the frame of a document, and escaping. All pages work without
scripts, and have no style and no script in place."""

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")


def document(title: str, body: str) -> str:
    """A whole HTML document."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{escape(title)}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
<script src="/assets/page.js" defer></script>
</head>
<body>
{body}
</body>
</html>
"""


def prose(text: str) -> str:
    """A text as HTML; what is between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def sample(caption: str, code: str) -> str:
    """A block of code to copy."""
    block = f"<pre><code>{escape(code, quote=False)}</code></pre>"
    return f'<figure class="sample"><figcaption>{escape(caption)}</figcaption>{block}</figure>'
