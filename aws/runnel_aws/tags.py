"""Tags: everything that an experiment makes has them, and teardown finds it by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .config import Config

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import FilterTypeDef, TagTypeDef

PROJECT = "runnel"
Role = Literal["node", "tracker", "worker"]


def tags(config: Config, role: Role | None = None) -> list[TagTypeDef]:
    """Project, experiment and owner; of machines also what they are."""
    pairs = {"project": PROJECT, "experiment": config.id, "owner": config.owner}
    if role is not None:
        pairs |= {"role": role, "Name": f"runnel-{config.id}-{role}"}
    return [{"Key": key, "Value": value} for key, value in pairs.items()]


def tag_filters(experiment: str, role: Role | None = None) -> list[FilterTypeDef]:
    """Finds what has the tags of the experiment, whoever its owner."""
    wanted = {"project": PROJECT, "experiment": experiment} | ({"role": role} if role is not None else {})
    return [{"Name": f"tag:{key}", "Values": [value]} for key, value in wanted.items()]
