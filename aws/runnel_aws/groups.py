"""The Auto Scaling group of a region: how many machines run there is one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cloud import Region
from .config import MAX_PER_REGION, Config
from .launch_templates import template_name
from .tags import tags

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.type_defs import ActivityTypeDef


def group_name(experiment: str) -> str:
    """One in a region."""
    return f"runnel-{experiment}"


def ensure_group(region: Region, config: Config, subnet_ids: tuple[str, ...]) -> None:
    """An empty group, if there is none. It moves no machine from zone to zone while an experiment runs."""
    name = group_name(config.id)
    if not has_group(region, config.id):
        region.autoscaling.create_auto_scaling_group(
            AutoScalingGroupName=name,
            MinSize=0,
            MaxSize=MAX_PER_REGION,
            DesiredCapacity=0,
            LaunchTemplate={"LaunchTemplateName": template_name(config, config.role), "Version": "$Latest"},
            VPCZoneIdentifier=",".join(subnet_ids),
            HealthCheckType="EC2",
            Tags=[
                {
                    "ResourceType": "auto-scaling-group",
                    "ResourceId": name,
                    "Key": tag["Key"],
                    "Value": tag["Value"],
                    "PropagateAtLaunch": True,
                }
                for tag in tags(config, config.role)
            ],
        )
    region.autoscaling.suspend_processes(AutoScalingGroupName=name, ScalingProcesses=["AZRebalance"])


def scale(region: Region, experiment: str, count: int) -> None:
    """Asks for a number of machines; they come and go by and by."""
    region.autoscaling.set_desired_capacity(
        AutoScalingGroupName=group_name(experiment), DesiredCapacity=count, HonorCooldown=False
    )


def has_group(region: Region, experiment: str) -> bool:
    """Whether the region has the group of the experiment."""
    paginator = region.autoscaling.get_paginator("describe_auto_scaling_groups")
    pages = paginator.paginate(AutoScalingGroupNames=[group_name(experiment)])
    return any(len(page["AutoScalingGroups"]) > 0 for page in pages)


def activity_ids(region: Region, experiment: str) -> frozenset[str]:
    """What the group has tried until now."""
    return frozenset(activity["ActivityId"] for activity in _activities(region, experiment))


def launch_failure(region: Region, experiment: str, known: frozenset[str]) -> str | None:
    """
    What AWS said when it failed to start a machine of the group, other than what is known: no capacity, a quota, a wrong
    image. The call that asked for the machines has long succeeded by that time.
    """
    for activity in _activities(region, experiment):
        if activity["ActivityId"] not in known and activity["StatusCode"] in ("Failed", "Cancelled"):
            return activity.get("StatusMessage", activity["StatusCode"])
    return None


def _activities(region: Region, experiment: str) -> list[ActivityTypeDef]:
    paginator = region.autoscaling.get_paginator("describe_scaling_activities")
    pages = paginator.paginate(AutoScalingGroupName=group_name(experiment))
    return [activity for page in pages for activity in page["Activities"]]
