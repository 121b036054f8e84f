"""A dry run changes nothing, and says everything."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .cloud import Cloud
from .config import Config
from .control import PlannedControl
from .driver import Driver
from .dry_run import PlannedCalls
from .leftovers import find_leftovers
from .regions import REPOSITORY_ROOT
from .runner import PlannedRunner
from .setup import setup
from .state import State
from .teardown import teardown
from .testkit import TOKEN, EveryAddress, worker_config
from .tools import Tools
from .waiting import Pace


def dry(endpoint: str, config: Config) -> tuple[PlannedCalls, Tools]:
    planned = PlannedCalls(lambda step: None)
    cloud = Cloud(config.all_regions, endpoint, planned)
    tools = Tools(
        cloud,
        EveryAddress(),
        PlannedControl(planned),
        PlannedRunner(planned),
        lambda text: None,
        Pace(0.01, 1),
    )
    return planned, tools


def plan_of_everything(endpoint: str, config: Config, directory: Path) -> PlannedCalls:
    planned, tools = dry(endpoint, config)
    Driver(tools, config, directory, TOKEN, lambda state: None).run(State())
    return planned


def test_the_plan_has_all_steps_in_order(endpoint: str, config: Config, directory: Path) -> None:
    steps = plan_of_everything(endpoint, config, directory).steps
    kinds = [re.sub(r"^(\S+)  \S+  (\w+)  .*", r"\1 \2", step) for step in steps]
    group = ["CreateSecurityGroup", "AuthorizeSecurityGroupIngress"]
    ground = [f"{region} {call}" for region in config.all_regions for call in group]
    assert kinds[: len(ground)] == ground
    rest = kinds[len(ground) :]
    assert rest[:2] == ["eu-north-1 CreateLaunchTemplate", "eu-north-1 RunInstances"]
    assert rest[2].startswith("GET http://(tracker):7172/v1/control")
    assert rest[3:9] == [
        f"{region} {call}"
        for region in config.regions
        for call in ("CreateLaunchTemplate", "CreateAutoScalingGroup", "SuspendProcesses")
    ]
    assert rest[10] == "POST http://(tracker):7172/v1/control/stop"
    assert rest[12:14] == ["eu-central-1 SetDesiredCapacity", "us-east-1 SetDesiredCapacity"]
    assert rest[15].startswith("npm run -s emulate -- propagation --out ")
    assert " --place hosts --hosts " in rest[15]
    assert rest[16:] == ["eu-central-1 SetDesiredCapacity", "us-east-1 SetDesiredCapacity"]
    assert '"DesiredCapacity": 2' in steps[-4] or '"DesiredCapacity": 2' in steps[-5]
    assert all('"DesiredCapacity": 0' in step for step in steps[-2:])


def test_the_plan_of_workers_has_no_tracker(endpoint: str, directory: Path) -> None:
    config = worker_config(instance_type="t3.small")
    steps = plan_of_everything(endpoint, config, directory).steps
    calls = [step.split("  ")[2] if "  " in step else step for step in steps]
    assert calls == [
        *("CreateSecurityGroup", "AuthorizeSecurityGroupIngress"),
        *("CreateLaunchTemplate", "CreateAutoScalingGroup", "SuspendProcesses", "SetDesiredCapacity"),
        "GET 2 workers, until all answer",
        f"npm run -s emulate -- sessions --out {directory}/0001-workers/repeat-01 --worker '(machine-1):7180' "
        "--worker '(machine-1):7181' --listen 10.0.0.7 --arms light-websocket",
        "SetDesiredCapacity",
    ]


def test_nothing_is_made_and_no_secret_is_said(endpoint: str, config: Config, directory: Path) -> None:
    planned = plan_of_everything(endpoint, config, directory)
    cloud = Cloud(config.all_regions, endpoint)
    assert [find_leftovers(cloud.region(name), config.id).describe() for name in config.all_regions] == [
        [],
        [],
        [],
    ]
    assert TOKEN not in "\n".join(planned.steps)
    assert not directory.exists()


def test_a_call_that_nobody_thought_of_is_not_made_either(endpoint: str, config: Config) -> None:
    planned, tools = dry(endpoint, config)
    region = tools.cloud.region("us-east-1")
    reply = region.ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)
    assert (reply["VolumeId"], len(planned.steps)) == ("(VolumeId)", 1)
    assert Cloud(("us-east-1",), endpoint).region("us-east-1").ec2.describe_volumes()["Volumes"] == []


def test_only_what_is_missing_is_planned(endpoint: str, config: Config, directory: Path) -> None:
    real = Cloud(config.all_regions, endpoint)
    _, tools = dry(endpoint, config)
    setup(Tools(real, EveryAddress(), tools.control, tools.runner, tools.say, tools.pace), config, TOKEN)
    kinds = {
        step.split("  ")[2] for step in plan_of_everything(endpoint, config, directory).steps if "  " in step
    }
    assert kinds == {"SuspendProcesses", "SetDesiredCapacity"}


@pytest.fixture
def allowed() -> set[str]:
    policy = json.loads((REPOSITORY_ROOT / "aws/iam-policy.json").read_text("utf-8"))
    actions = [entry["Action"] for entry in policy["Statement"]]
    return {action for entry in actions for action in (entry if isinstance(entry, list) else [entry])}


def test_the_policy_allows_every_write_and_no_more(
    endpoint: str, config: Config, directory: Path, allowed: set[str]
) -> None:
    planned = plan_of_everything(endpoint, config, directory)
    real = Cloud(config.all_regions, endpoint)
    _, tools = dry(endpoint, config)
    setup(Tools(real, EveryAddress(), tools.control, tools.runner, tools.say, tools.pace), config, TOKEN)
    clearing = PlannedCalls(lambda step: None)
    teardown(Cloud(config.all_regions, endpoint, clearing), config.id, Pace(0.01, 1), lambda text: None)
    steps = [step.split("  ") for step in planned.steps + clearing.steps if "  " in step]
    made = {f"{service.replace('auto-scaling', 'autoscaling')}:{call}" for _, service, call, _ in steps}
    assert made - allowed == set()
    # Where a driver has moved, a script has changed, or machines were cut off from their volumes; and what tags imply.
    sometimes = {
        "ec2:RevokeSecurityGroupIngress",
        "ec2:CreateLaunchTemplateVersion",
        "ec2:DeleteVolume",
        "ec2:DeleteNetworkInterface",
        "ec2:CreateTags",
        "ec2:Describe*",
        "ec2:GetConsoleOutput",
        "autoscaling:Describe*",
        "autoscaling:CreateOrUpdateTags",
        "iam:CreateServiceLinkedRole",
    }
    assert allowed - made == sometimes
