"""What an experiment has left in a region, found by its tags alone."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .cloud import Region
from .machines import Machine, list_machines
from .tags import tag_filters


@dataclass(frozen=True, slots=True)
class Leftovers:
    """By kind, in the order in which they can be deleted."""

    groups: tuple[str, ...]
    machines: tuple[Machine, ...]
    templates: tuple[str, ...]
    volumes: tuple[str, ...]
    interfaces: tuple[str, ...]
    security_groups: tuple[str, ...]

    def describe(self) -> list[str]:
        """One line each kind that there is something of."""
        texts = {field.name: [_name(entry) for entry in getattr(self, field.name)] for field in fields(self)}
        return [
            f"{kind.replace('_', ' ')}: {', '.join(names)}" for kind, names in texts.items() if len(names) > 0
        ]


def _name(entry: str | Machine) -> str:
    return entry if isinstance(entry, str) else f"{entry.id} ({entry.state})"


def find_leftovers(region: Region, experiment: str) -> Leftovers:
    """Everything in the region with the tags of the experiment."""
    filters = tag_filters(experiment)
    groups = region.autoscaling.get_paginator("describe_auto_scaling_groups").paginate(Filters=filters)
    templates = region.ec2.get_paginator("describe_launch_templates").paginate(Filters=filters)
    volumes = region.ec2.get_paginator("describe_volumes").paginate(Filters=filters)
    interfaces = region.ec2.get_paginator("describe_network_interfaces").paginate(Filters=filters)
    security_groups = region.ec2.get_paginator("describe_security_groups").paginate(Filters=filters)
    return Leftovers(
        tuple(entry["AutoScalingGroupName"] for page in groups for entry in page["AutoScalingGroups"]),
        tuple(list_machines(region, experiment)),
        tuple(entry["LaunchTemplateId"] for page in templates for entry in page["LaunchTemplates"]),
        tuple(entry["VolumeId"] for page in volumes for entry in page["Volumes"]),
        tuple(entry["NetworkInterfaceId"] for page in interfaces for entry in page["NetworkInterfaces"]),
        tuple(entry["GroupId"] for page in security_groups for entry in page["SecurityGroups"]),
    )
