"""Finds e-mail, IPv4 and IPv6 addresses."""

import ipaddress
import re
from collections.abc import Iterator

from recollect.screening.pii.text import Span

_LOCAL_CHARS_MAX = 64
_CONTEXT_CHARS = 40


def find_emails(text: str) -> Iterator[Span]:
    """A local part, `@`, and a domain whose last label is a word."""
    # The search starts at the `@`, and looks back for the local part: a pattern that began with
    # the local part would take quadratic time on a long run of letters without an `@`.
    free = 0
    for found in _AT_DOMAIN.finditer(text):
        start = max(_local_start(text, found.start()), free)
        local = text[start : found.start()]
        is_local_part = local and local[-1] not in ".'" and ".." not in local
        if is_local_part and not _is_no_mailbox(text, start, found):
            free = found.end()
            yield start, free


def find_ip_addresses(text: str) -> Iterator[Span]:
    """Valid IPv4 and IPv6 addresses; neither version numbers nor numbers of sections."""
    for found in _IP.finditer(text):
        span = _ipv4_span(text, found) if found["v4"] else _ipv6_span(text, found)
        if span:
            yield span


def _local_start(text: str, at: int) -> int:
    start = at
    least = max(0, at - _LOCAL_CHARS_MAX)
    while start > least and (text[start - 1].isalnum() or text[start - 1] in "._%+-'"):
        start -= 1
    while start < at and not text[start].isalnum():
        start += 1
    return start


def _is_no_mailbox(text: str, start: int, found: re.Match[str]) -> bool:
    """Is it a user in a URL, a git remote over ssh, or an image name such as `logo@2x.png`?"""
    in_url = text[max(0, start - 3) : start] == "://"
    remote = text[start : found.start()] == "git" and text[found.end() : found.end() + 1] == ":"
    return in_url or remote or _DENSE_PICTURE.match(found[0]) is not None


def _ipv4_span(text: str, found: re.Match[str]) -> Span | None:
    # Four numbers with dots are also versions and numbers of sections. What stands after them,
    # what is attached before them, and the words of the same clause decide.
    if _VERSION_AFTER.match(text, found.end("v4")):
        return None
    before = text[max(0, found.start() - _CONTEXT_CHARS) : found.start()]
    clause = _CLAUSE_END.split(before)[-1]
    if _GLUED_VERSION.search(before) or _is_product_version(found["v4"], before):
        return None
    if _NUMBERED.search(clause) and not _NETWORK_WORD.search(clause):
        return None
    return found.span("v4")


def _is_product_version(address: str, before: str) -> bool:
    """Is it a version number after a product's name, as in `SQLite 3.54.1.0`?"""
    word = _WORD_BEFORE.search(before)
    if word is None or _NETWORK_WORD.fullmatch(word[1]) or _BETWEEN.fullmatch(word[1]):
        return False
    octets = [int(octet) for octet in address.split(".")]
    return octets[0] != 10 and max(octets) < 100


def _ipv6_span(text: str, found: re.Match[str]) -> Span | None:
    address = found["v6"]
    if address.endswith(":") and not address.endswith("::"):
        address = address[:-1]
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return None
    # An address has more to it than the `a::b` of a programming language.
    digits = [char for char in address if char not in ":."]
    if address != "::1" and (len(digits) < 4 or not any(map(str.isdigit, digits))):
        return None
    in_slice = _INDEXED.search(text, max(0, found.start() - 2), found.start())
    return None if in_slice else (found.start("v6"), found.start("v6") + len(address))


_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_AT_DOMAIN = re.compile(
    rf"@(?:{_LABEL}\.){{1,8}}(?:xn--[a-z0-9-]{{2,59}}|[^\W\d_]{{2,63}})(?!\w|-\w)"
)
_DENSE_PICTURE = re.compile(r"@\d+(?:\.\d+)?x\.")
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IP = re.compile(
    rf"(?<![\w.])(?:(?<![A-Za-z_]-)(?P<v4>{_OCTET}(?:\.{_OCTET}){{3}})(?!\w|\.\d)"
    r"|(?<![:-])(?P<v6>(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{3,39}(?:\.\d{1,3}){0,3})(?![\w:]))"
)
_VERSION_AFTER = re.compile(
    r"[-+_][A-Za-z]|\s(?:release|version|build|update|beta|alpha|rc)\b"
    r"|\.(?:tar|t?gz|zip|whl|exe|deb|rpm|jar|msi|dmg|pkg)\b",
    re.I,
)
# `pkg==1.2.3.4`, `>=1.2.3.4`, `^1.2.3.4`, `Browser/1.2.3.4`, `v 1.2.3.4`.
_GLUED_VERSION = re.compile(r"(?:[=<>~!]=\s?|[~^]|[A-Za-z]/|\bv\.? ?|§ ?)$", re.I)
_CLAUSE_END = re.compile(r"[;!?\n]|[.,]\s")
_NUMBERED = re.compile(
    r"version|\b(?:ver|releas\w*|builds?|firmware|drivers?|patch\w*|revision|rev|upgrad\w*"
    r"|downgrad\w*|bump\w*|sections?|sec|chapters?|clauses?|figures?|fig|tables?|appendix|paragraphs?"
    r"|articles?|rules?|oid)\b|identifier",
    re.I,
)
_NETWORK_WORD = re.compile(
    r"\b(?:ip|ips|ipv4|address\w*|hosts?|servers?|gateway|router|dns|resolver|subnet|network|client|proxy|peer|node|machine|user|visitor|ping|ssh|curl|connect\w*|listen\w*)\b",
    re.I,
)
_WORD_BEFORE = re.compile(r"([A-Za-z]\w*) $")
_BETWEEN = re.compile(
    r"at|from|to|is|was|are|on|by|of|via|with|and|or|in|for|the|behind|using|use|not|block(?:ed)?",
    re.I,
)
_INDEXED = re.compile(r"[\w)\]]\[")
