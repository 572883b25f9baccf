"""The page at `/`: what this is, whether it is well, and a first call to copy.

It tells an unknown caller no more than the health check does: only a server on the loopback, which
trusts its callers, says its version.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from recollect.api.front.layout import document, prose, sample

_LINKS = (
    ("/docs", "API reference", "Every operation, with its fields and an example."),
    ("/openapi-merged.json", "OpenAPI", "Every operation, for generators of clients."),
    ("/llms.txt", "llms.txt", "In short, for coding agents."),
    ("/v1/health", "Health", "For probes."),
    ("/metrics", "Metrics", "In the format of Prometheus."),
)
_LEAD = (
    "A memory server for AI agents. It keeps conversations and what agents know, and decides who "
    "may see what."
)


@dataclass(frozen=True, slots=True)
class StartFacts:
    """What the page says. `version` is None where callers are not trusted; `url` is the address
    under which the caller reached the server."""

    healthy: bool
    local: bool
    url: str
    version: str | None
    warnings: Sequence[str] = ()

    @property
    def status(self) -> str:
        return "ok" if self.healthy else "unavailable"


def to_json(facts: StartFacts) -> dict[str, Any]:
    """The facts for programs."""
    answer: dict[str, Any] = {"name": "Recollect", "status": facts.status}
    if facts.version is not None:
        answer["version"] = facts.version
    if facts.warnings:
        answer["warnings"] = list(facts.warnings)
    return answer | {
        "mode": "local" if facts.local else "jwt",
        "links": {title: path for path, title, _ in _LINKS},
    }


def render_start_page(facts: StartFacts) -> str:
    """The page for people."""
    warnings = "".join(f'<p class="warning">{prose(text)}</p>' for text in facts.warnings)
    links = "".join(
        f'<li><a href="{path}">{escape(title)}</a><span>{escape(about)}</span></li>'
        for path, title, about in _LINKS
    )
    body = f"""<main>
<h1>Recollect</h1>
<p class="lead">{_LEAD}</p>
<ul class="state">{_state(facts)}</ul>
{warnings}
<h2>A first call</h2>
<p>{prose(_who_calls(facts))}</p>
{sample("In a terminal: store a memory, then ask for it", curl_sample(facts))}
{sample("In Python", python_sample(facts))}
<h2>Where to go on</h2>
<ul class="links">{links}</ul>
<footer>{
        prose(
            "The guides are in `docs/guide` of the source. `recollect doctor` says whether "
            "all is well with what is stored."
        )
    }</footer>
</main>"""
    return document("Recollect", body)


def curl_sample(facts: StartFacts) -> str:
    """Two calls for a shell."""
    who = "X-Requester-Id: you" if facts.local else "Authorization: Bearer $TOKEN"
    head = (
        f"curl -s {facts.url}/v1/memories{{}} \\\n"
        f'  -H "{who}" -H "Content-Type: application/json" \\\n'
    )
    written = """  -d '{"space": {"kind": "user"}, "content": "I am vegetarian."}'"""
    recalled = """  -d '{"spaces": [{"kind": "user"}], "query": "What can I cook?"}'"""
    return f"{head.format('')}{written}\n\n{head.format('/recall')}{recalled}"


def python_sample(facts: StartFacts) -> str:
    """The same with the Python client."""
    if facts.local:
        opened, who = f'Recollect.connect("{facts.url}")', 'memory.user("you")'
    else:
        opened = f'Recollect.connect("{facts.url}", token=os.environ["TOKEN"])'
        who = 'memory.user(os.environ["USER_ID"])'
    imports = "" if facts.local else "import os\n\n"
    return f"""{imports}from recollect_client import Recollect

memory = {opened}
you = {who}
you.remember("I am vegetarian.")
print(you.recall("What can I cook?").context)"""


def _state(facts: StartFacts) -> str:
    dot = "dot" if facts.healthy else "dot bad"
    health = "Healthy" if facts.healthy else "The database does not answer"
    parts = [f'<span class="{dot}"></span><strong>{health}</strong>']
    if facts.version is not None:
        parts.append(f"Version <strong>{escape(facts.version)}</strong>")
    parts.append(f"Mode <strong>{'local' if facts.local else 'jwt'}</strong>")
    return "".join(f"<li>{part}</li>" for part in parts)


def _who_calls(facts: StartFacts) -> str:
    if facts.local:
        return "This server trusts every program on this machine: `X-Requester-Id` names the user."
    return "This server wants a token: `TOKEN` holds it, and `USER_ID` is the user that it is for."
