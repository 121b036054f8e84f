"""Makes whatever an experiment needs that costs nothing by itself, and the tracker's machine. Doing it again does no harm."""

from __future__ import annotations

from dataclasses import dataclass

from .addresses import Address
from .cloud import Region
from .config import Config
from .control import Status
from .errors import AwsError
from .groups import ensure_group
from .images import find_image
from .launch_templates import ensure_template, template_data
from .machines import Machine
from .security_groups import ensure_security_group
from .subnets import find_default_network
from .tools import Tools
from .tracker_host import TrackerHost, ensure_tracker, find_tracker
from .user_data import network_file, user_data


@dataclass(frozen=True, slots=True)
class Ground:
    """What machines of a region stand on."""

    image: str
    subnet_ids: tuple[str, ...]
    security_group: str


def setup(tools: Tools, config: Config, token: str) -> TrackerHost | None:
    """
    Security groups everywhere, the tracker, then launch templates and empty groups in all regions: nodes are told at birth
    who their tracker is. Workers need none. Raises REGION_FAILED, TRACKER_UNREACHABLE.
    """
    tools.say(f"security groups in {len(config.all_regions)} regions")
    grounds = tools.cloud.in_each(config.all_regions, lambda region: _lay_ground(region, config))

    tracker, network = None, ""
    if config.role == "node":
        tracker, network = _set_up_tracker(tools, config, token, grounds[config.tracker_region])

    tools.say(f"launch templates and Auto Scaling groups in {len(config.regions)} regions")
    script = user_data(config, config.role, token, network)

    def prepare(region: Region) -> None:
        ground = grounds[region.name]
        data = template_data(config, config.role, ground.image, ground.security_group, script)
        ensure_template(region, config, config.role, data)
        ensure_group(region, config, ground.subnet_ids)

    tools.cloud.in_each(config.regions, prepare)
    return tracker


def _set_up_tracker(tools: Tools, config: Config, token: str, ground: Ground) -> tuple[TrackerHost, str]:
    """The tracker, and the network file of its nodes."""
    tools.say(f"tracker in {config.tracker_region}")
    region = tools.cloud.region(config.tracker_region)
    script = user_data(config, "tracker", token)
    ensure_template(
        region,
        config,
        "tracker",
        template_data(config, "tracker", ground.image, ground.security_group, script),
    )
    ensure_tracker(tools, config)
    tracker, status = _wait_for_tracker(tools, config)
    return tracker, network_file(status.node_id, status.websocket_url or "")


def _lay_ground(region: Region, config: Config) -> Ground:
    has_its_machines = region.name in config.regions
    network = find_default_network(
        region, config.instance_type if has_its_machines else config.tracker_instance_type
    )
    image = find_image(region, config)
    return Ground(image, network.subnet_ids, ensure_security_group(region, config, network.vpc_id))


def _wait_for_tracker(tools: Tools, config: Config) -> tuple[TrackerHost, Status]:
    """Until its machine has been installed, which takes minutes, and it answers."""

    def look() -> tuple[TrackerHost, Status] | None:
        tracker = find_tracker(tools, config) or planned_tracker(tools, config)
        status = tools.control.status(tracker.address.control) if tracker is not None else None
        return (
            (tracker, status)
            if tracker is not None and status is not None and status.role == "tracker"
            else None
        )

    answer = tools.pace.until(look)
    if answer is None:
        raise AwsError("TRACKER_UNREACHABLE", f"in {config.tracker_region}")
    return answer


def planned_tracker(tools: Tools, config: Config) -> TrackerHost | None:
    """In a dry run the tracker that was not started."""
    if tools.cloud.planned is None:
        return None
    machine = Machine("(tracker)", config.tracker_region, "running", "(tracker)")
    return TrackerHost(machine, Address("(tracker)", "http://(tracker):7172"))
