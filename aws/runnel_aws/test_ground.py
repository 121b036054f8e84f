"""What setup makes in a region: image, network, security group, launch template, group. Against a server that plays AWS."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from botocore.stub import Stubber

from rehearsal.moto_server import NEWEST_IMAGE

from .cloud import Region
from .config import Config
from .errors import AwsError
from .groups import (
    activity_ids,
    ensure_group,
    group_name,
    has_group,
    launch_failure,
    scale,
)
from .images import find_image
from .launch_templates import ensure_template, template_data
from .machines import list_machines
from .security_groups import Rule, ensure_security_group, wanted_rules
from .subnets import find_default_network
from .testkit import small_config, worker_config


def test_takes_the_newest_debian_unless_told_otherwise(region: Region, config: Config) -> None:
    assert find_image(region, config) == NEWEST_IMAGE
    named = small_config(images=(("eu-central-1", "ami-0123456789abcdef0"),))
    assert find_image(region, named) == "ami-0123456789abcdef0"


def test_a_region_without_debian_is_named(region: Region, config: Config) -> None:
    with Stubber(region.ec2) as stub, pytest.raises(AwsError) as error:
        stub.add_response("describe_images", {"Images": []})
        find_image(region, config)
    assert (error.value.code, "eu-central-1" in str(error.value)) == ("NO_IMAGE", True)


def test_takes_the_default_subnets_whose_zone_has_the_machines(region: Region) -> None:
    network = find_default_network(region, "t3.small")
    assert len(network.subnet_ids) >= 2
    assert network.vpc_id.startswith("vpc-")
    with pytest.raises(AwsError) as error:
        find_default_network(region, "t3.imaginary")
    assert error.value.code == "NO_SUBNET"


def rules_in(region: Region, group_id: str) -> set[Rule]:
    group = region.ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0]
    return {
        Rule(entry["IpProtocol"], entry["FromPort"], entry["ToPort"], address["CidrIp"])
        for entry in group["IpPermissions"]
        for address in entry["IpRanges"]
    }


def test_only_the_driver_reaches_the_control_port_also_when_it_moves(region: Region, config: Config) -> None:
    vpc = find_default_network(region, "t3.small").vpc_id
    group = ensure_security_group(region, config, vpc)
    assert rules_in(region, group) == wanted_rules(config)
    assert [rule.cidr for rule in rules_in(region, group) if rule.first_port == 7172] == ["192.0.2.7/32"]
    moved = small_config(driver_cidr="198.51.100.1/32")
    assert ensure_security_group(region, moved, vpc) == group
    assert rules_in(region, group) == wanted_rules(moved)
    assert {rule.cidr for rule in rules_in(region, group) if rule.first_port == 7172} == {"198.51.100.1/32"}


def test_only_the_driver_reaches_workers(region: Region) -> None:
    vpc = find_default_network(region, "t3.xlarge").vpc_id
    group = ensure_security_group(region, worker_config(), vpc)
    assert rules_in(region, group) == {Rule("tcp", 7180, 7307, "10.0.0.7/32")}


def newest(region: Region, name: str) -> Any:
    return region.ec2.describe_launch_template_versions(LaunchTemplateName=name, Versions=["$Latest"])[
        "LaunchTemplateVersions"
    ][0]


def test_machines_have_no_key_hidden_metadata_encrypted_volumes_and_tags(
    region: Region, config: Config
) -> None:
    name = ensure_template(
        region, config, "node", template_data(config, "node", NEWEST_IMAGE, "sg-1", "#!/bin/bash\n")
    )
    data = newest(region, name)["LaunchTemplateData"]
    assert (data["InstanceType"], data["ImageId"]) == ("t3.small", NEWEST_IMAGE)
    assert base64.b64decode(data["UserData"]) == b"#!/bin/bash\n"
    assert data["MetadataOptions"]["HttpTokens"] == "required"
    assert data["MetadataOptions"]["HttpPutResponseHopLimit"] == 1
    assert [
        (disk["Ebs"]["Encrypted"], disk["Ebs"]["DeleteOnTermination"]) for disk in data["BlockDeviceMappings"]
    ] == [(True, True)]
    assert data["CreditSpecification"] == {"CpuCredits": "unlimited"}
    assert "CreditSpecification" not in template_data(config, "tracker", NEWEST_IMAGE, "sg-1", "")
    assert "KeyName" not in data and "IamInstanceProfile" not in data
    wanted = {"project": "runnel", "experiment": "test-1", "owner": "tester", "role": "node"}
    for kind in ("instance", "volume", "network-interface"):
        [tags] = [entry["Tags"] for entry in data["TagSpecifications"] if entry["ResourceType"] == kind]
        assert {tag["Key"]: tag["Value"] for tag in tags}.items() >= wanted.items()


def test_a_template_gets_a_new_version_only_when_something_changed(region: Region, config: Config) -> None:
    same = template_data(config, "node", NEWEST_IMAGE, "sg-1", "one")
    name = ensure_template(region, config, "node", same)
    ensure_template(region, config, "node", same)
    assert newest(region, name)["VersionNumber"] == 1
    ensure_template(region, config, "node", template_data(config, "node", NEWEST_IMAGE, "sg-1", "two"))
    assert newest(region, name)["VersionNumber"] == 2


@pytest.fixture
def group(region: Region, config: Config) -> str:
    network = find_default_network(region, config.instance_type)
    sg = ensure_security_group(region, config, network.vpc_id)
    ensure_template(region, config, "node", template_data(config, "node", NEWEST_IMAGE, sg, "script"))
    ensure_group(region, config, network.subnet_ids)
    ensure_group(region, config, network.subnet_ids)
    return group_name(config.id)


def test_a_group_is_made_once_and_empty(region: Region, config: Config, group: str) -> None:
    found = region.autoscaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    assert [
        (entry["AutoScalingGroupName"], entry["MinSize"], entry["MaxSize"], entry["DesiredCapacity"])
        for entry in found
    ] == [(group, 0, 128, 0)]
    assert [process["ProcessName"] for process in found[0]["SuspendedProcesses"]] == ["AZRebalance"]
    assert has_group(region, config.id) and not has_group(region, "another")


def test_scaling_makes_tagged_machines_and_ends_them(region: Region, config: Config, group: str) -> None:
    scale(region, config.id, 2)
    machines = list_machines(region, config.id, "node")
    assert [(machine.region, machine.state) for machine in machines] == [("eu-central-1", "running")] * 2
    assert list_machines(region, config.id, "tracker") == [] == list_machines(region, "another")
    scale(region, config.id, 0)
    assert list_machines(region, config.id) == []


def activity(name: str, status: str, message: str = "") -> dict[str, Any]:
    said = {"StatusMessage": message} if message else {}
    return said | {
        "ActivityId": name,
        "AutoScalingGroupName": "runnel-test-1",
        "Cause": "capacity",
        "StartTime": "2026-11-21T12:00:00Z",
        "StatusCode": status,
    }


def test_hears_of_launches_that_fail_later_than_the_call(region: Region, config: Config) -> None:
    old = activity("1", "Failed", "of another day")
    capacity = "InsufficientInstanceCapacity: We currently do not have sufficient t3.small capacity"
    with Stubber(region.autoscaling) as stub:
        # Two pages: the failure is on the second.
        stub.add_response("describe_scaling_activities", {"Activities": [old]})
        stub.add_response("describe_scaling_activities", {"Activities": [activity("2", "Successful"), old]})
        stub.add_response(
            "describe_scaling_activities", {"Activities": [activity("3", "InProgress")], "NextToken": "x"}
        )
        stub.add_response(
            "describe_scaling_activities", {"Activities": [activity("2", "Failed", capacity), old]}
        )
        known = activity_ids(region, config.id)
        assert launch_failure(region, config.id, known) is None
        assert launch_failure(region, config.id, known) == capacity
