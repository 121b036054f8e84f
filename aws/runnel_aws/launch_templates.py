"""What a machine is made of: one launch template for the nodes (or workers) of a region, and the same for the tracker's machine."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, cast

from .cloud import Region
from .config import Config
from .tags import Role, tags

if TYPE_CHECKING:
    from mypy_boto3_ec2.literals import InstanceTypeType
    from mypy_boto3_ec2.type_defs import RequestLaunchTemplateDataTypeDef

VOLUME_GIB = 16


def template_name(config: Config, role: Role) -> str:
    """One in a region for each role."""
    return f"runnel-{config.id}-{role}"


def template_data(
    config: Config, role: Role, image: str, security_group: str, script: str
) -> RequestLaunchTemplateDataTypeDef:
    """
    No key pair, so nobody logs in. Metadata only with a session token, and only from the machine itself (one hop). The
    volume is encrypted and goes with the machine. A public address, and tags on whatever comes with it.
    """
    instance_type = config.tracker_instance_type if role == "tracker" else config.instance_type
    data: RequestLaunchTemplateDataTypeDef = {
        "ImageId": image,
        "InstanceType": cast("InstanceTypeType", instance_type),
        "UserData": base64.b64encode(script.encode()).decode(),
        "InstanceInitiatedShutdownBehavior": "terminate",
        "MetadataOptions": {
            "HttpTokens": "required",
            "HttpPutResponseHopLimit": 1,
            "HttpEndpoint": "enabled",
        },
        "BlockDeviceMappings": [
            {
                "DeviceName": "/dev/xvda",
                "Ebs": {
                    "VolumeSize": VOLUME_GIB,
                    "VolumeType": "gp3",
                    "Encrypted": True,
                    "DeleteOnTermination": True,
                },
            }
        ],
        "NetworkInterfaces": [
            {
                "DeviceIndex": 0,
                "AssociatePublicIpAddress": True,
                "DeleteOnTermination": True,
                "Groups": [security_group],
            }
        ],
        "TagSpecifications": [
            {"ResourceType": "instance", "Tags": tags(config, role)},
            {"ResourceType": "volume", "Tags": tags(config, role)},
            {"ResourceType": "network-interface", "Tags": tags(config, role)},
        ],
    }
    if instance_type.startswith("t"):
        # Building Runnel takes a processor for minutes, which T3 lends; other types refuse to be asked.
        data["CreditSpecification"] = {"CpuCredits": "unlimited"}
    return data


def ensure_template(
    region: Region, config: Config, role: Role, data: RequestLaunchTemplateDataTypeDef
) -> str:
    """Makes the template, or a new version where the newest is another; returns its name."""
    name = template_name(config, role)
    fingerprint = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    pages = region.ec2.get_paginator("describe_launch_templates").paginate(
        Filters=[{"Name": "launch-template-name", "Values": [name]}]
    )
    if not any(len(page["LaunchTemplates"]) > 0 for page in pages):
        region.ec2.create_launch_template(
            LaunchTemplateName=name,
            VersionDescription=fingerprint,
            LaunchTemplateData=data,
            TagSpecifications=[{"ResourceType": "launch-template", "Tags": tags(config)}],
        )
    elif _newest_description(region, name) != fingerprint:
        region.ec2.create_launch_template_version(
            LaunchTemplateName=name, VersionDescription=fingerprint, LaunchTemplateData=data
        )
    return name


def _newest_description(region: Region, name: str) -> str | None:
    versions = region.ec2.describe_launch_template_versions(LaunchTemplateName=name, Versions=["$Latest"])
    return versions["LaunchTemplateVersions"][0].get("VersionDescription")
