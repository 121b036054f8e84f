"""Phase 2: machines in every region, until exactly so many run as asked for."""

from __future__ import annotations

from ..cloud import describe
from ..config import Config
from ..errors import AwsError
from ..groups import activity_ids, launch_failure, scale
from ..machines import all_running, list_machines
from ..tools import Tools
from .scale_in import scale_in


def scale_out(tools: Tools, config: Config, size: int) -> None:
    """Starts machines, or ends those too many. Where a region cannot, all are ended. Raises REGION_FAILED, or STILL_RUNNING where these did not end."""
    count = config.per_region(size)
    tools.say(f"{count} machines in each of {len(config.regions)} regions")
    known = tools.cloud.in_each(config.regions, lambda region: activity_ids(region, config.id))
    try:
        tools.cloud.in_each(config.regions, lambda region: scale(region, config.id, count))
        if tools.cloud.planned is not None:
            return
        _wait(tools, config, count, known)
    except AwsError as failure:
        tools.say(f"{describe(failure)}: ending what was started")
        scale_in(tools, config)
        failure.all_ended = True
        raise


def _wait(tools: Tools, config: Config, count: int, known: dict[str, frozenset[str]]) -> None:
    running: dict[str, int] = {}

    def look() -> bool | None:
        failures = tools.cloud.in_each(
            config.regions, lambda region: launch_failure(region, config.id, known[region.name])
        )
        details = [f"{name}: {failure}" for name, failure in failures.items() if failure is not None]
        if len(details) > 0:
            raise AwsError("REGION_FAILED", "; ".join(details))
        machines = tools.cloud.in_each(
            config.regions, lambda region: list_machines(region, config.id, config.role)
        )
        running.update(
            {name: sum(machine.state == "running" for machine in here) for name, here in machines.items()}
        )
        tools.say(f"{sum(running.values())} of {count * len(config.regions)} machines run")
        return True if all(all_running(here, count) for here in machines.values()) else None

    if tools.pace.until(look) is None:
        late = [f"{name}: {here} of {count} run" for name, here in running.items() if here != count]
        raise AwsError("REGION_FAILED", "; ".join(late) or "some machines have no public address")
