"""How many processors machines have."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .cloud import Region
from .config import MAX_WORKERS, WORKER_PORT

if TYPE_CHECKING:
    from mypy_boto3_ec2.literals import InstanceTypeType


def processors(region: Region, instance_type: str) -> int:
    """Of each machine of the type, as `nproc` counts them there."""
    types = region.ec2.describe_instance_types(InstanceTypes=[cast("InstanceTypeType", instance_type)])
    return types["InstanceTypes"][0]["VCpuInfo"]["DefaultVCpus"]


def worker_ports(region: Region, instance_type: str) -> range:
    """Where the workers of a machine listen; boot/install.sh starts one on each."""
    return range(WORKER_PORT, WORKER_PORT + min(processors(region, instance_type), MAX_WORKERS))
