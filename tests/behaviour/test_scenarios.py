"""Every acceptance scenario that this suite owes has a test that names it."""

import re
from pathlib import Path

# Cost in rows (13) and the recorder (37) are proved elsewhere.
OWED = {*range(1, 13), *range(14, 37), 38, 39, 40}
MARKER = re.compile(r"^@pytest\.mark\.scenario\((\d+)\)$", re.MULTILINE)


def test_every_owed_scenario_has_a_test() -> None:
    modules = Path(__file__).parent.glob("test_*.py")
    proved = {int(n) for module in modules for n in MARKER.findall(module.read_text("utf-8"))}
    assert OWED - proved == set()
