"""Waiting for what AWS and machines do by and by."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pace:
    """How often to look, and for how long, in seconds."""

    interval_s: float = 5.0
    timeout_s: float = 1800.0

    def until(self, look: Callable[[], T | None]) -> T | None:
        """Looks until there is something to see, and returns it; None when time has run out."""
        deadline = time.monotonic() + self.timeout_s
        while (seen := look()) is None:
            if time.monotonic() >= deadline:
                return None
            time.sleep(self.interval_s)
        return seen
