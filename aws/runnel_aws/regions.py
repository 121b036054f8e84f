"""The regions of the thesis, table 5.1, in its order."""

from __future__ import annotations

import json
from pathlib import Path

REPOSITORY_ROOT = Path(__file__).resolve().parents[2]


def thesis_regions() -> tuple[str, ...]:
    """The 16 regions, from the table of delays that the simulator takes."""
    table = json.loads((REPOSITORY_ROOT / "sim/src/latency/aws-one-way-delays.json").read_text("utf-8"))
    return tuple(str(region) for region in table["regions"])
