"""Where in a region machines are put: the subnets of its default VPC."""

from __future__ import annotations

from dataclasses import dataclass

from .cloud import Region
from .errors import AwsError


@dataclass(frozen=True, slots=True)
class DefaultNetwork:
    """The default VPC of a region, and those of its subnets whose zone has machines of the type wanted."""

    vpc_id: str
    subnet_ids: tuple[str, ...]


def find_default_network(region: Region, instance_type: str) -> DefaultNetwork:
    """The default network. Raises NO_SUBNET when the account has deleted it, or no zone has the type."""
    offered = region.ec2.get_paginator("describe_instance_type_offerings").paginate(
        LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": [instance_type]}]
    )
    zones = {offer["Location"] for page in offered for offer in page["InstanceTypeOfferings"]}
    pages = region.ec2.get_paginator("describe_subnets").paginate(
        Filters=[{"Name": "default-for-az", "Values": ["true"]}]
    )
    subnets = [subnet for page in pages for subnet in page["Subnets"] if subnet["AvailabilityZone"] in zones]
    if len(subnets) == 0:
        raise AwsError("NO_SUBNET", f"{region.name}, {instance_type}")
    subnets.sort(key=lambda subnet: subnet["AvailabilityZone"])
    return DefaultNetwork(subnets[0]["VpcId"], tuple(subnet["SubnetId"] for subnet in subnets))
