"""The phases, with real AWS calls (to a server that plays it) and machines that only pretend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .cloud import Cloud
from .config import Config
from .driver import Driver
from .errors import AwsError
from .machines import list_machines
from .phases.scale_out import scale_out
from .regions import thesis_regions
from .setup import setup
from .state import Phase, State
from .testkit import (
    TOKEN,
    ObedientMachines,
    RecordingRunner,
    TrackerWatch,
    machine_urls,
    small_config,
    tools_of,
)


@pytest.fixture
def machines(cloud: Cloud, config: Config) -> TrackerWatch:
    return TrackerWatch(cloud, config)


def drive(
    cloud: Cloud, config: Config, machines: ObedientMachines, directory: Path, state: State
) -> tuple[RecordingRunner, list[State]]:
    directory.mkdir(exist_ok=True)
    runner, states = RecordingRunner(), list[State]()
    Driver(tools_of(cloud, machines, runner), config, directory, TOKEN, states.append).run(state)
    return runner, states


def test_sizes_and_repeats_go_through_the_phases_in_order(
    cloud: Cloud, machines: TrackerWatch, directory: Path
) -> None:
    config = small_config(sizes=(2, 6), repeats=2)
    runner, states = drive(cloud, config, machines, directory, State())
    each = ["tracker", "scale-out", "experiment"]
    assert [state.phase for state in states] == ["setup", *each * 4, "scale-in", "finished"]
    assert [out.relative_to(directory).as_posix() for _, out in runner.runs] == [
        "0002-nodes/repeat-01",
        "0002-nodes/repeat-02",
        "0006-nodes/repeat-01",
        "0006-nodes/repeat-02",
    ]
    assert [len(json.loads(hosts)["nodes"]) for hosts, _ in runner.runs] == [2, 2, 6, 6]
    [tracker] = machines.trackers
    assert machines.stopped == [tracker] * 4
    assert all(list_machines(cloud.region(name), config.id, "node") == [] for name in config.regions)


def test_the_hosts_file_has_the_regions_in_turn(
    cloud: Cloud, machines: TrackerWatch, config: Config, directory: Path
) -> None:
    runner, _ = drive(cloud, config, machines, directory, State())
    hosts = json.loads(runner.runs[0][0])
    assert [node["site"] for node in hosts["nodes"]] == ["eu-central-1", "us-east-1"] * 2
    assert hosts["tracker"]["site"] == "eu-north-1"
    assert (hosts["format"], hosts["version"], hosts["source"], hosts["tokenFile"]) == (
        "runnel-hosts",
        1,
        "aws",
        "token",
    )


@pytest.mark.parametrize("phase", ["tracker", "scale-out", "experiment"])
def test_goes_on_in_any_phase_even_where_all_was_torn_down_meanwhile(
    cloud: Cloud, machines: TrackerWatch, config: Config, directory: Path, phase: Phase
) -> None:
    state = State(phase)
    runner, states = drive(cloud, config, machines, directory, state)
    assert states[0].phase == phase
    assert states[-1].phase == "finished"
    assert len(runner.runs) == 1


def test_what_is_finished_stays_so(
    cloud: Cloud, machines: TrackerWatch, config: Config, directory: Path
) -> None:
    runner, _ = drive(cloud, config, machines, directory, State("finished"))
    assert runner.runs == []
    assert list_machines(cloud.region(config.tracker_region), config.id) == []


def test_a_region_that_cannot_start_is_named_and_the_others_end(
    cloud: Cloud, machines: TrackerWatch, directory: Path
) -> None:
    config = small_config(images=(("us-east-1", "ami-0badbadbadbadbad0"),))
    tools = tools_of(cloud, machines, RecordingRunner())
    setup(tools, config, TOKEN)
    with pytest.raises(AwsError) as error:
        scale_out(tools, config, 4)
    assert error.value.code == "REGION_FAILED" and error.value.all_ended
    assert "us-east-1: SetDesiredCapacity InvalidAMIID.NotFound" in str(error.value)
    assert "eu-central-1" not in str(error.value)
    assert list_machines(cloud.region("eu-central-1"), config.id) == []


def test_machines_that_do_not_come_in_time_are_ended(
    cloud: Cloud, machines: TrackerWatch, config: Config
) -> None:
    setup(tools_of(cloud, machines, RecordingRunner()), config, TOKEN)
    region = cloud.region("us-east-1")
    # One machine of the group is stopped behind its back, so that never all run.
    impatient = tools_of(cloud, machines, RecordingRunner(), timeout_s=0)
    scale_out(impatient, config, 4)
    region.ec2.stop_instances(InstanceIds=[list_machines(region, config.id, "node")[0].id])
    with pytest.raises(AwsError) as error:
        scale_out(impatient, config, 4)
    assert error.value.code == "REGION_FAILED"
    assert "us-east-1: 1 of 2 run" in str(error.value)
    assert list_machines(cloud.region("eu-central-1"), config.id) == []


def test_silent_nodes_are_named(
    cloud: Cloud, machines: TrackerWatch, config: Config, directory: Path
) -> None:
    tools = tools_of(cloud, machines, RecordingRunner())
    setup(tools, config, TOKEN)
    scale_out(tools, config, 4)
    silent = list_machines(cloud.region("us-east-1"), config.id, "node")[0]
    machines.silent = machine_urls([silent])
    directory.mkdir()
    impatient = tools_of(cloud, machines, RecordingRunner(), timeout_s=0)
    with pytest.raises(AwsError) as error:
        Driver(impatient, config, directory, TOKEN, lambda state: None).run(State("experiment"))
    assert error.value.code == "NODES_UNREACHABLE"
    assert str(error.value).endswith(f": {silent.id} in us-east-1")


def test_a_tracker_that_does_not_come_back_is_told_of(
    cloud: Cloud, machines: TrackerWatch, config: Config, directory: Path
) -> None:
    setup(tools_of(cloud, machines, RecordingRunner()), config, TOKEN)
    machines.restarts = False
    directory.mkdir()
    with pytest.raises(AwsError) as error:
        Driver(
            tools_of(cloud, machines, RecordingRunner(), 0), config, directory, TOKEN, lambda state: None
        ).run(State("tracker"))
    assert error.value.code == "TRACKER_NOT_RESTARTED"


def test_the_tracker_is_started_once(cloud: Cloud, machines: TrackerWatch, config: Config) -> None:
    tools = tools_of(cloud, machines, RecordingRunner())
    first = setup(tools, config, TOKEN)
    assert setup(tools, config, TOKEN) == first
    assert len(list_machines(cloud.region(config.tracker_region), config.id)) == 1


def test_all_sixteen_regions_get_what_they_need(endpoint: str) -> None:
    config = small_config(regions=thesis_regions(), sizes=(32,))
    cloud = Cloud(config.all_regions, endpoint)
    machines = TrackerWatch(cloud, config)
    tools = tools_of(cloud, machines, RecordingRunner())
    setup(tools, config, TOKEN)
    scale_out(tools, config, 32)
    assert [len(list_machines(cloud.region(name), config.id, "node")) for name in config.regions] == [2] * 16
