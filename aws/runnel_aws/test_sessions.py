"""The phases of an experiment with workers, with real AWS calls (to a server that plays it) and machines that only pretend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from .addresses import PrivateAddresses
from .cloud import Cloud
from .config import Config
from .driver import Driver
from .errors import AwsError
from .machines import list_machines
from .phases.scale_out import scale_out
from .processors import worker_ports
from .setup import setup
from .state import State
from .testkit import TOKEN, ObedientMachines, RecordingRunner, tools_of, worker_config


@pytest.fixture
def config() -> Config:
    return worker_config(sizes=(2,))


def drive(cloud: Cloud, config: Config, directory: Path, state: State) -> tuple[RecordingRunner, list[str]]:
    directory.mkdir()
    runner, phases = RecordingRunner(), list[str]()
    tools = replace(tools_of(cloud, ObedientMachines(), runner), addresses=PrivateAddresses())
    Driver(tools, config, directory, TOKEN, lambda state: phases.append(state.phase)).run(state)
    return runner, phases


def test_there_is_no_tracker_and_the_driver_is_told_of_all_workers(
    cloud: Cloud, config: Config, directory: Path
) -> None:
    runner, phases = drive(cloud, config, directory, State())
    assert phases == ["setup", "scale-out", "experiment", "scale-in", "finished"]
    [arguments] = runner.arguments
    workers, rest = arguments[:16], arguments[16:]
    assert set(workers[::2]) == {"--worker"}
    hosts = [place.split(":")[0] for place in workers[1::2]]
    assert hosts == [hosts[0]] * 4 + [hosts[-1]] * 4 and hosts[0] != hosts[-1]
    # A t3.xlarge has four processors.
    assert [place.split(":")[1] for place in workers[1::2]] == ["7180", "7181", "7182", "7183"] * 2
    assert rest == ("--listen", "10.0.0.7", *config.emulate_arguments)
    assert [out.relative_to(directory).as_posix() for _, out in runner.runs] == ["0002-workers/repeat-01"]
    assert list_machines(cloud.region("eu-west-1"), config.id) == []


def test_repeats_need_no_phase_between(cloud: Cloud, directory: Path) -> None:
    _, phases = drive(cloud, worker_config(repeats=2), directory, State("experiment"))
    each = ["scale-out", "experiment"]
    assert phases == ["experiment", *each, *each, "scale-in", "finished"]


def test_the_final_experiment_knows_what_its_machines_cost(cloud: Cloud, directory: Path) -> None:
    held = ("--held", "light-websocket=8")
    config = worker_config(experiment="sessions-cost", emulate_arguments=held)
    runner, _ = drive(cloud, config, directory, State())
    price = f"{0.1824 + 0.005 + 16 * 0.088 / 730:.6f}"
    assert runner.arguments[0][-6:] == ("--machine-price", price, "--machine-name", "t3.xlarge", *held)


def test_silent_workers_are_named(cloud: Cloud, config: Config, directory: Path) -> None:
    machines = ObedientMachines(silent={"127.0.0.1:7182"})
    tools = tools_of(cloud, machines, RecordingRunner())
    setup(tools, config, TOKEN)
    scale_out(tools, config, 2)
    impatient = tools_of(cloud, machines, RecordingRunner(), timeout_s=0)
    directory.mkdir()
    with pytest.raises(AwsError) as error:
        Driver(impatient, config, directory, TOKEN, lambda state: None).run(State("experiment"))
    assert error.value.code == "WORKERS_UNREACHABLE"
    assert "127.0.0.1:7182" in str(error.value) and "7181" not in str(error.value)


def test_a_machine_has_a_worker_for_each_processor(cloud: Cloud) -> None:
    region = cloud.region("eu-west-1")
    assert worker_ports(region, "t3.small") == range(7180, 7182)
    assert len(worker_ports(region, "c7i.48xlarge")) == 128
