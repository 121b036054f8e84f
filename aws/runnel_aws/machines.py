"""The machines of an experiment, as EC2 lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .cloud import Region
from .tags import Role, tag_filters

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import InstanceTypeDef

LIVING = ("pending", "running")
GONE = "terminated"


@dataclass(frozen=True, slots=True)
class Machine:
    """An instance; it has its addresses once it runs."""

    id: str
    region: str
    state: str
    public_ip: str | None
    private_ip: str | None = None


def list_machines(region: Region, experiment: str, role: Role | None = None) -> list[Machine]:
    """All machines of the experiment in a region but those that are gone, by id."""
    pages = region.ec2.get_paginator("describe_instances").paginate(Filters=tag_filters(experiment, role))
    instances = (
        instance
        for page in pages
        for reservation in page["Reservations"]
        for instance in reservation["Instances"]
    )
    machines = (_machine(region.name, instance) for instance in instances)
    return sorted((machine for machine in machines if machine.state != GONE), key=lambda machine: machine.id)


def _machine(region: str, instance: InstanceTypeDef) -> Machine:
    addresses = (instance.get("PublicIpAddress"), instance.get("PrivateIpAddress"))
    return Machine(instance["InstanceId"], region, instance["State"]["Name"], *addresses)


def all_running(machines: Iterable[Machine], count: int) -> bool:
    """Whether exactly so many run, and each has its address."""
    listed = list(machines)
    running = [machine for machine in listed if machine.state == "running" and machine.public_ip is not None]
    return len(running) == count == len([machine for machine in listed if machine.state in LIVING])


def terminate(region: Region, machines: Iterable[Machine]) -> None:
    """Ends machines; they are gone a while later."""
    ids = [machine.id for machine in machines]
    if len(ids) > 0:
        region.ec2.terminate_instances(InstanceIds=ids)
