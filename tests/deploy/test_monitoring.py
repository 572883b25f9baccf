"""The dashboard and the alert rules name metrics and labels that a server really has."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from recollect.observability.prometheus import PrometheusMetrics
from tests.deploy.files import DEPLOY, ROOT

ALERTS = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
DASHBOARD = json.loads((DEPLOY / "grafana" / "recollect.json").read_text(encoding="utf-8"))
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
# Set by Prometheus when it scrapes.
SCRAPED = {"instance", "job"}
GRAFANA_COLUMNS = 24
_WORDS = re.compile(r'"[^"]*"')
_BY = re.compile(r"\bby \(([^)]*)\)")
_SELECTOR = re.compile(r"\b(recollect_\w+)(?:\{([^}]*)\})?")
_LABEL = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")


def every_series() -> dict[str, set[str]]:
    """The labels of each series of a metrics page on which everything was recorded once."""
    metrics = PrometheusMetrics()
    metrics.record_request("GET", "/v1/health", 200, 0.1)
    metrics.record_transaction("read", 0.1)
    metrics.record_commit_batch(1)
    metrics.record_job("reindex", "done", 0.1)
    metrics.record_queue(0, 0.0, 0)
    metrics.record_indexed(1)
    metrics.record_pending(0)
    series: dict[str, set[str]] = {}
    for line in metrics.render()[0].decode().splitlines():
        found = re.fullmatch(r"(\w+)(?:\{(.*)\})? \S+", line)
        if found and not line.startswith("#"):
            labels = set(re.findall(r'(\w+)="', found[2] or ""))
            series.setdefault(found[1], set()).update(labels)
    return series


SERIES = every_series()


def queries() -> Iterator[tuple[str, str]]:
    """Each query, and where its results are named."""
    for rule in RULES:
        yield rule["expr"], " ".join(rule["annotations"].values())
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]


@pytest.mark.parametrize(("query", "legend"), [*queries()])
def test_a_query_names_series_and_labels_that_there_are(query: str, legend: str) -> None:
    used = _SELECTOR.findall(query)
    assert used or query.startswith("up{")
    known = set(SCRAPED)
    for name, selector in used:
        assert name in SERIES
        assert {*_LABEL.findall(selector)} <= SERIES[name] | SCRAPED
        known |= SERIES[name]
    grouped = {label.strip() for part in _BY.findall(query) for label in part.split(",")}
    assert grouped <= known
    named = {*re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", legend)}
    assert named <= (grouped or SCRAPED)


@pytest.mark.parametrize(("query", "legend"), [*queries()])
def test_brackets_are_closed_in_order(query: str, legend: str) -> None:
    left = _WORDS.sub("", query)
    while (
        shorter := re.sub(r"\(\w*[^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}", "", left)
    ) != left:
        left = shorter
    assert not re.search(r"[()\[\]{}]", left)


def test_every_metric_is_on_the_dashboard() -> None:
    shown = " ".join(
        query for panel in DASHBOARD["panels"] for query in [t["expr"] for t in panel["targets"]]
    )
    families = {re.sub(r"_(bucket|sum|count|total)$", "", name) for name in SERIES}
    assert [family for family in sorted(families) if family not in shown] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_has_what_prometheus_needs_and_people_read(rule: dict[str, Any]) -> None:
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"[A-Z]\w+", rule["alert"])
    assert re.fullmatch(r"\d+[smh]", rule["for"])
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert set(rule["annotations"]) == {"summary", "description"}


def test_the_panels_have_places_of_their_own() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= GRAFANA_COLUMNS
        cells = {
            (place["x"] + column, place["y"] + row)
            for column in range(place["w"])
            for row in range(place["h"])
        }
        assert not cells & taken
        taken |= cells
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))


def test_the_guide_names_both_files() -> None:
    guide = (ROOT / "docs" / "guide" / "operating.md").read_text(encoding="utf-8")
    assert "deploy/grafana/recollect.json" in guide
    assert "deploy/prometheus/alerts.yaml" in guide
