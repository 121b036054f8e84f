"""Clients of AWS, one of each kind for a region: with standard retries, and in a dry run unable to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import boto3
from botocore.config import Config as ClientConfig
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
)

from .dry_run import PlannedCalls
from .errors import AwsError

if TYPE_CHECKING:
    from mypy_boto3_autoscaling import AutoScalingClient
    from mypy_boto3_ec2 import EC2Client

T = TypeVar("T")

_client_config = ClientConfig(
    retries={"mode": "standard", "max_attempts": 10},
    connect_timeout=10,
    read_timeout=60,
    user_agent_extra="runnel-aws",
)


@dataclass(frozen=True, slots=True)
class Region:
    """The clients of a region."""

    name: str
    ec2: EC2Client
    autoscaling: AutoScalingClient


class Cloud:
    """All regions of an experiment. `planned` makes it a dry run: reads are real, writes are written down."""

    def __init__(
        self, regions: tuple[str, ...], endpoint_url: str | None = None, planned: PlannedCalls | None = None
    ) -> None:
        self.planned = planned
        session = boto3.Session()
        if planned is not None:
            planned.guard(session)
        self.regions: Mapping[str, Region] = {
            name: Region(
                name,
                session.client("ec2", name, endpoint_url=endpoint_url, config=_client_config),
                session.client("autoscaling", name, endpoint_url=endpoint_url, config=_client_config),
            )
            for name in regions
        }

    def region(self, name: str) -> Region:
        """The clients of a region of the experiment."""
        return self.regions[name]

    def in_each(self, names: tuple[str, ...], work: Callable[[Region], T]) -> dict[str, T]:
        """
        Does the work in all these regions at once; in a dry run one after the other, so that the plan has an order.
        Raises REGION_FAILED with all that failed, once the others have ended.
        """
        with ThreadPoolExecutor(1 if self.planned is not None else max(len(names), 1)) as pool:
            futures = {name: pool.submit(work, self.region(name)) for name in names}
        failures = {
            name: error for name, future in futures.items() if (error := future.exception()) is not None
        }
        if len(failures) > 0:
            raise regions_failed(failures)
        return {name: future.result() for name, future in futures.items()}


def regions_failed(failures: Mapping[str, BaseException]) -> BaseException:
    """One error for those of several regions; what concerns all of them alike, or is no fault of AWS, as it is."""
    for error in failures.values():
        if not isinstance(error, (AwsError, ClientError)):
            return error
    details = "; ".join(f"{region}: {describe(error)}" for region, error in failures.items())
    return AwsError("REGION_FAILED", details)


def describe(error: BaseException) -> str:
    """In one line what AWS said, by its own code."""
    if isinstance(error, ClientError):
        reply = error.response["Error"]
        return f"{error.operation_name} {reply['Code']}: {reply['Message']}"
    return str(error)


def as_aws_error(error: ClientError | BotoCoreError) -> AwsError:
    """An error of AWS or on the way to it, with one of our codes."""
    if isinstance(error, NoCredentialsError):
        return AwsError("NO_CREDENTIALS")
    if isinstance(error, EndpointConnectionError):
        return AwsError("AWS_UNREACHABLE", str(error))
    return AwsError("AWS_REFUSED", describe(error))
