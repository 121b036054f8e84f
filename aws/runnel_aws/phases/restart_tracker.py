"""Phase 1: is the tracker there? Then it begins anew, with no memory of earlier nodes."""

from __future__ import annotations

from ..config import Config
from ..control import Status
from ..errors import AwsError
from ..setup import planned_tracker
from ..tools import Tools
from ..tracker_host import find_tracker


def restart_tracker(tools: Tools, config: Config) -> None:
    """Stops the tracker, and waits for the process that systemd starts in its place. Raises TRACKER_UNREACHABLE, TRACKER_NOT_RESTARTED."""
    tracker = find_tracker(tools, config) or planned_tracker(tools, config)
    if tracker is None:
        raise AwsError("TRACKER_UNREACHABLE", f"no machine of it runs in {config.tracker_region}")
    control = tracker.address.control
    before = tools.pace.until(lambda: tools.control.status(control))
    if before is None:
        raise AwsError("TRACKER_UNREACHABLE", f"{tracker.machine.id} at {control}")
    tools.control.stop(control)

    def another() -> Status | None:
        status = tools.control.status(control)
        return status if status is not None and status.pid != before.pid else None

    if tools.pace.until(another) is None:
        raise AwsError("TRACKER_NOT_RESTARTED", f"{tracker.machine.id} at {control}")
