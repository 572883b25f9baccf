"""The site of the guides: its navigation has every page, and every page is there."""

from typing import Any

import yaml

from tests.support.documents import ROOT

DOCS = ROOT / "docs"


def pages_of(entry: Any) -> list[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [page for part in parts for page in pages_of(part)]


def test_the_navigation_lists_every_page_once() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    written = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    assert sorted(pages_of(site["nav"])) == sorted(written)


def test_the_site_loads_nothing_from_elsewhere() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert site["theme"]["font"] is False
    assert "https://" not in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
