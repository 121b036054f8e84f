"""Phase 4: no machine of a node or worker is left. The tracker's stays, until teardown."""

from __future__ import annotations

from ..cloud import Region
from ..config import Config
from ..errors import AwsError
from ..groups import has_group, scale
from ..machines import list_machines
from ..tools import Tools


def scale_in(tools: Tools, config: Config) -> None:
    """Sets every group to zero, and waits until EC2 lists none of its machines any more. Raises STILL_RUNNING."""

    def empty(region: Region) -> None:
        if tools.cloud.planned is not None or has_group(region, config.id):
            scale(region, config.id, 0)

    tools.cloud.in_each(config.regions, empty)
    if tools.cloud.planned is not None:
        return
    left: list[str] = []

    def look() -> bool | None:
        machines = tools.cloud.in_each(
            config.regions, lambda region: list_machines(region, config.id, config.role)
        )
        left[:] = [f"{machine.id} in {machine.region}" for here in machines.values() for machine in here]
        if len(left) > 0:
            tools.say(f"{len(left)} machines are still ending")
        return True if len(left) == 0 else None

    if tools.pace.until(look) is None:
        raise AwsError("STILL_RUNNING", ", ".join(left))
