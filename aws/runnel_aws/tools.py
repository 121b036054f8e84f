"""What a driver works with. A dry run has others, that only say what they would do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .addresses import Addresses
from .cloud import Cloud
from .control import Control
from .runner import Runner
from .waiting import Pace


@dataclass(frozen=True, slots=True)
class Tools:
    """AWS, the machines' control APIs, the experiments, and patience."""

    cloud: Cloud
    addresses: Addresses
    control: Control
    runner: Runner
    say: Callable[[str], None]
    pace: Pace = field(default_factory=Pace)
