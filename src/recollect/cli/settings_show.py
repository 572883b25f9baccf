"""`recollect config show`: each value and where it came from, secrets masked."""

import json
from functools import reduce
from operator import getitem
from typing import Any

from recollect.cli.options import Config, DatabaseUrl, Json, load_settings
from recollect.settings.load import LoadedSettings


def show(config: Config = None, database_url: DatabaseUrl = None, as_json: Json = False) -> None:
    """Print every setting and the source of its value. Secrets are masked."""
    loaded = load_settings(config, database_url=database_url)
    values = _masked_values(loaded)
    if as_json:
        print(json.dumps(_add_sources(values, loaded), indent=2))
        return
    lines = {key: f"{key} = {json.dumps(value)}" for key, value in values.items()}
    width = max(map(len, lines.values()))
    for key, line in lines.items():
        print(f"{line:{min(width, 60)}}  # {loaded.origins[key]}")


def _masked_values(loaded: LoadedSettings) -> dict[str, Any]:
    tree = loaded.settings.model_dump(mode="json")
    return {key: _value_at(tree, key) for key in loaded.origins}


def _value_at(tree: Any, key: str) -> Any:
    return reduce(getitem, key.split("."), tree)


def _add_sources(values: dict[str, Any], loaded: LoadedSettings) -> dict[str, Any]:
    return {key: {"value": value, "source": loaded.origins[key]} for key, value in values.items()}
