"""The image that machines start from: the newest Debian 12 of Debian's own account."""

from __future__ import annotations

from .cloud import Region
from .config import Config
from .errors import AwsError

DEBIAN_ACCOUNT = "136693071363"
"""Debian's account at AWS, as wiki.debian.org/Cloud/AmazonEC2Image names it."""
NAME_PATTERN = "debian-12-amd64-*"


def find_image(region: Region, config: Config) -> str:
    """The image the experiment names for the region, else the newest Debian 12. Raises NO_IMAGE."""
    named = dict(config.images).get(region.name)
    if named is not None:
        return named
    pages = region.ec2.get_paginator("describe_images").paginate(
        Owners=[DEBIAN_ACCOUNT],
        Filters=[
            {"Name": "name", "Values": [NAME_PATTERN]},
            {"Name": "architecture", "Values": ["x86_64"]},
            {"Name": "virtualization-type", "Values": ["hvm"]},
            {"Name": "state", "Values": ["available"]},
        ],
    )
    images = [image for page in pages for image in page["Images"]]
    if len(images) == 0:
        raise AwsError("NO_IMAGE", region.name)
    return max(images, key=lambda image: image["CreationDate"])["ImageId"]
