"""Deletes all that an experiment has made, in every region, whatever has become of its driver and its state file."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from botocore.exceptions import ClientError

from .cloud import Cloud, Region, describe
from .errors import AwsError
from .leftovers import Leftovers, find_leftovers
from .machines import terminate
from .waiting import Pace

Call = ParamSpec("Call")


def teardown(cloud: Cloud, experiment: str, pace: Pace, say: Callable[[str], None]) -> None:
    """Goes on until nothing with the tags of the experiment is left. Raises LEFTOVERS with what is, when the time has run out."""
    names = tuple(cloud.regions)
    last: dict[str, list[str]] = {}

    def sweep(region: Region) -> list[str]:
        left = find_leftovers(region, experiment)
        refusals = delete(region, left)
        return [*left.describe(), *refusals]

    def look() -> bool | None:
        last.clear()
        last.update({name: lines for name, lines in cloud.in_each(names, sweep).items() if len(lines) > 0})
        for name, lines in last.items():
            for line in lines:
                say(f"{name}: {line}")
        return True if len(last) == 0 or cloud.planned is not None else None

    if pace.until(look) is None:
        raise AwsError("LEFTOVERS", "; ".join(f"{name}: {', '.join(lines)}" for name, lines in last.items()))


def delete(region: Region, left: Leftovers) -> list[str]:
    """Asks for the deletion of all of it; returns what AWS refused, for instance because machines are still ending."""
    ec2 = region.ec2
    refusals: list[str] = []

    def attempt(call: Callable[Call, object], *args: Call.args, **arguments: Call.kwargs) -> None:
        try:
            call(*args, **arguments)
        except ClientError as error:
            refusals.append(describe(error))

    for name in left.groups:
        attempt(region.autoscaling.delete_auto_scaling_group, AutoScalingGroupName=name, ForceDelete=True)
    attempt(terminate, region, [machine for machine in left.machines if machine.state != "shutting-down"])
    for template in left.templates:
        attempt(ec2.delete_launch_template, LaunchTemplateId=template)
    if len(left.machines) > 0:
        # The rest hangs on machines that are still ending: the next round will find them gone.
        return refusals
    for volume in left.volumes:
        attempt(ec2.delete_volume, VolumeId=volume)
    for interface in left.interfaces:
        attempt(ec2.delete_network_interface, NetworkInterfaceId=interface)
    for group in left.security_groups:
        attempt(ec2.delete_security_group, GroupId=group)
    return refusals
