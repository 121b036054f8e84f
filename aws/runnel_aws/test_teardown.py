"""Teardown finds what is left by its tags."""

from __future__ import annotations

import pytest

from .cloud import Cloud, Region
from .config import Config
from .dry_run import PlannedCalls
from .errors import AwsError
from .leftovers import find_leftovers
from .machines import list_machines
from .phases.scale_out import scale_out
from .setup import setup
from .tags import tags
from .teardown import teardown
from .testkit import TOKEN, RecordingRunner, TrackerWatch, small_config, tools_of
from .waiting import Pace


@pytest.fixture
def begun(cloud: Cloud, config: Config) -> Cloud:
    """Machines of a driver that is no more, and a volume that one of them has lost."""
    tools = tools_of(cloud, TrackerWatch(cloud, config), RecordingRunner())
    setup(tools, config, TOKEN)
    scale_out(tools, config, 4)
    cloud.region("us-east-1").ec2.create_volume(
        AvailabilityZone="us-east-1a",
        Size=1,
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags(config)}],
    )
    return cloud


def left(cloud: Cloud, config: Config) -> list[str]:
    return [
        line for region in cloud.regions.values() for line in find_leftovers(region, config.id).describe()
    ]


def test_finds_every_kind_and_leaves_nothing(begun: Cloud, config: Config) -> None:
    kinds = {line.split(":")[0] for line in left(begun, config)}
    assert kinds == {"groups", "machines", "templates", "volumes", "security groups"}
    teardown(begun, config.id, Pace(0.01, 30), lambda text: None)
    assert left(begun, config) == []
    teardown(begun, config.id, Pace(0.01, 30), lambda text: None)


def test_leaves_other_experiments_alone(begun: Cloud, config: Config) -> None:
    other = small_config(id="another")
    tools = tools_of(begun, TrackerWatch(begun, other), RecordingRunner())
    setup(tools, other, TOKEN)
    scale_out(tools, other, 2)
    before = left(begun, other)
    teardown(begun, config.id, Pace(0.01, 30), lambda text: None)
    assert left(begun, other) == before


def test_a_dry_run_says_what_it_would_delete_and_deletes_nothing(
    begun: Cloud, config: Config, endpoint: str
) -> None:
    before = left(begun, config)
    planned = PlannedCalls(lambda step: None)
    teardown(Cloud(config.all_regions, endpoint, planned), config.id, Pace(0.01, 1), lambda text: None)
    assert left(begun, config) == before
    kinds = {step.split("  ")[2] for step in planned.steps}
    assert kinds >= {"DeleteAutoScalingGroup", "TerminateInstances", "DeleteLaunchTemplate"}


def hold(region: Region, config: Config) -> None:
    """A machine of somebody else that still uses a tagged volume."""
    machine = region.ec2.run_instances(MinCount=1, MaxCount=1, ImageId="ami-0000000000000d12")["Instances"][0]
    volume = region.ec2.create_volume(
        AvailabilityZone=machine["Placement"]["AvailabilityZone"],
        Size=1,
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags(config)}],
    )
    region.ec2.attach_volume(Device="/dev/sdf", InstanceId=machine["InstanceId"], VolumeId=volume["VolumeId"])


def test_reports_what_could_not_be_deleted(begun: Cloud, config: Config) -> None:
    hold(begun.region("eu-north-1"), config)
    once = Pace(0.01, 0)
    with pytest.raises(AwsError, match="machines"):
        teardown(begun, config.id, once, lambda text: None)
    # The machines are ending; only now are volumes and security groups tried.
    with pytest.raises(AwsError) as error:
        teardown(begun, config.id, once, lambda text: None)
    assert error.value.code == "LEFTOVERS"
    assert "eu-north-1: volumes: vol-" in str(error.value) and "VolumeInUse" in str(error.value)
    assert list_machines(begun.region("us-east-1"), config.id) == []
