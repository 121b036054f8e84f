"""The machine of the tracker: one, in a region of its own choice, that stays from experiment to experiment."""

from __future__ import annotations

from dataclasses import dataclass

from .addresses import Address
from .cloud import Region
from .config import Config
from .launch_templates import template_name
from .machines import LIVING, Machine, list_machines
from .tools import Tools


@dataclass(frozen=True, slots=True)
class TrackerHost:
    """The machine, and where it is reached."""

    machine: Machine
    address: Address


def find_tracker(tools: Tools, config: Config) -> TrackerHost | None:
    """The tracker's machine, once it has an address."""
    machines = _living(tools.cloud.region(config.tracker_region), config)
    addresses = tools.addresses.find(machines)
    for machine in machines:
        if machine.id in addresses:
            return TrackerHost(machine, addresses[machine.id])
    return None


def ensure_tracker(tools: Tools, config: Config) -> None:
    """Starts the machine, if there is none."""
    region = tools.cloud.region(config.tracker_region)
    if len(_living(region, config)) == 0:
        region.ec2.run_instances(
            MinCount=1,
            MaxCount=1,
            LaunchTemplate={"LaunchTemplateName": template_name(config, "tracker"), "Version": "$Latest"},
        )


def _living(region: Region, config: Config) -> list[Machine]:
    return [machine for machine in list_machines(region, config.id, "tracker") if machine.state in LIVING]
