"""Who may send what to the machines: nodes and tracker to each other, and the driver alone to the control API and to workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .cloud import Region
from .config import (
    CONTROL_PORT,
    MAX_WORKERS,
    PING_PORT,
    STUN_PORT,
    TRACKER_PORT,
    WEBSOCKET_PORT,
    WORKER_PORT,
    Config,
)
from .tags import tags

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import IpPermissionOutputTypeDef, IpPermissionTypeDef

ANYONE = "0.0.0.0/0"


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """Who may send to which ports."""

    protocol: str
    first_port: int
    last_port: int
    cidr: str


def wanted_rules(config: Config) -> frozenset[Rule]:
    """
    The ports between nodes are open to everyone: groups of one region cannot name those of another, and 2,048 addresses
    are more than a group can hold. What listens there expects strangers. UDP is what Linux gives to WebRTC.
    Workers have the driver only: users of a session are on one machine, and go to the driver's tracker.
    """
    if config.role == "worker":
        return frozenset({Rule("tcp", WORKER_PORT, WORKER_PORT + MAX_WORKERS - 1, config.driver_cidr)})
    return frozenset(
        {
            Rule("tcp", CONTROL_PORT, CONTROL_PORT, config.driver_cidr),
            Rule("tcp", WEBSOCKET_PORT, WEBSOCKET_PORT, ANYONE),
            Rule("tcp", PING_PORT, PING_PORT, ANYONE),
            Rule("tcp", TRACKER_PORT, TRACKER_PORT, ANYONE),
            Rule("udp", STUN_PORT, STUN_PORT, ANYONE),
            Rule("udp", 32768, 60999, ANYONE),
        }
    )


def ensure_security_group(region: Region, config: Config, vpc_id: str) -> str:
    """The group of the experiment in the region, with exactly the rules wanted: a driver that has moved is let in, its old address no more."""
    name = f"runnel-{config.id}"
    pages = region.ec2.get_paginator("describe_security_groups").paginate(
        Filters=[{"Name": "group-name", "Values": [name]}, {"Name": "vpc-id", "Values": [vpc_id]}]
    )
    found = [group for page in pages for group in page["SecurityGroups"]]
    if len(found) > 0:
        group_id, present = found[0]["GroupId"], _rules_of(found[0]["IpPermissions"])
    else:
        group_id, present = _create(region, config, name, vpc_id), frozenset[Rule]()
    wanted = wanted_rules(config)
    if len(wanted - present) > 0:
        region.ec2.authorize_security_group_ingress(
            GroupId=group_id, IpPermissions=_permissions(wanted - present)
        )
    if len(present - wanted) > 0:
        region.ec2.revoke_security_group_ingress(
            GroupId=group_id, IpPermissions=_permissions(present - wanted)
        )
    return group_id


def _create(region: Region, config: Config, name: str, vpc_id: str) -> str:
    return region.ec2.create_security_group(
        GroupName=name,
        Description=f"Runnel experiment {config.id}",
        VpcId=vpc_id,
        TagSpecifications=[{"ResourceType": "security-group", "Tags": tags(config)}],
    )["GroupId"]


def _rules_of(permissions: Sequence[IpPermissionOutputTypeDef]) -> frozenset[Rule]:
    return frozenset(
        Rule(entry["IpProtocol"], entry.get("FromPort", -1), entry.get("ToPort", -1), ip_range["CidrIp"])
        for entry in permissions
        for ip_range in entry["IpRanges"]
    )


def _permissions(rules: frozenset[Rule]) -> list[IpPermissionTypeDef]:
    return [
        {
            "IpProtocol": rule.protocol,
            "FromPort": rule.first_port,
            "ToPort": rule.last_port,
            "IpRanges": [{"CidrIp": rule.cidr}],
        }
        for rule in sorted(rules)
    ]
