"""All four phases, through the real command line, against a server that plays AWS and processes that play its machines."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runnel_aws.cloud import Cloud
from runnel_aws.leftovers import find_leftovers
from runnel_aws.machines import list_machines
from runnel_aws.regions import REPOSITORY_ROOT

from .driver_process import DriverProcess
from .supervisor import Supervisor

EXPERIMENT = "rehearsal"
REGIONS = ("eu-central-1", "eu-north-1", "us-east-1")


@pytest.fixture
def stage(endpoint: str) -> Cloud:
    """The regions of the rehearsal."""
    return Cloud(REGIONS, endpoint)


@pytest.fixture
def supervisor(stage: Cloud, tmp_path: Path) -> Iterator[Supervisor]:
    """Plays the machines."""
    with Supervisor(stage, EXPERIMENT, tmp_path / "machines") as playing:
        yield playing


def command(name: str, endpoint: str, supervisor: Supervisor, out: Path, *experiment: str) -> list[str]:
    """A driver that is quick to look."""
    address_map = f"{sys.executable} {REPOSITORY_ROOT / 'aws/rehearsal/map_addresses.py'} {supervisor.places}"
    where = ["--endpoint-url", endpoint, "--poll-interval", "0.2", "--timeout", "600", "--id", EXPERIMENT]
    what = [
        "--regions",
        ",".join(REGIONS),
        "--sizes",
        "6",
        "--links",
        "websocket",
        "--driver-cidr",
        "127.0.0.1/32",
    ]
    code = ["--repository", "https://git.example/runnel.git", "--revision", "0" * 40]
    return [name, *where, *what, *code, "--address-map", address_map, "--out", str(out), "--yes", *experiment]


def test_a_driver_killed_twice_completes_the_experiment(
    endpoint: str, stage: Cloud, supervisor: Supervisor, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run = command("run", endpoint, supervisor, out, "propagation")

    first = DriverProcess(run)
    first.wait_for("machines in each of 3 regions")
    assert first.kill(signal.SIGKILL) == -signal.SIGKILL
    second = DriverProcess(run)
    second.wait_for("going on: phase 2")
    second.wait_for("propagation: run 1 of 1: messages")
    assert second.kill(signal.SIGTERM) == 130, second.all_said()
    assert not (out / "0006-nodes/repeat-01/propagation.json").exists()
    machines = {
        machine.id
        for region in stage.regions.values()
        for machine in list_machines(region, EXPERIMENT, "node")
    }
    third = DriverProcess(run)
    third.wait_for("going on: phase 3")
    assert third.end() == 0, third.all_said() + supervisor.logs()

    hosts = json.loads((out / "hosts.json").read_text())
    assert {node["name"] for node in hosts["nodes"]} == machines
    record = json.loads((out / "0006-nodes/repeat-01/propagation.json").read_text())
    assert (record["format"], record["source"], record["experiment"]) == (
        "runnel-record",
        "aws",
        "propagation",
    )
    assert [row["nodes"] for row in record["rows"]] == [6]
    # Phase 4: the nodes are gone, the tracker stays; phase 1 has restarted it.
    assert [
        machine for region in stage.regions.values() for machine in list_machines(region, EXPERIMENT, "node")
    ] == []
    assert report(out) == 0
    tear_down(endpoint, stage)


def tear_down(endpoint: str, stage: Cloud) -> None:
    """Nothing is left."""
    where = ["--endpoint-url", endpoint, "--regions", ",".join(REGIONS), "--poll-interval", "0.2"]
    driver = DriverProcess(["teardown", "--id", EXPERIMENT, *where])
    assert driver.end() == 0, driver.all_said()
    assert [find_leftovers(region, EXPERIMENT).describe() for region in stage.regions.values()] == [
        [],
        [],
        [],
    ]


def report(out: Path) -> int:
    """`npm run sim -- report` of the record."""
    record = out / "0006-nodes/repeat-01/propagation.json"
    command = ["npm", "run", "-s", "sim", "--", "report", str(record), "--out", str(out / "report")]
    return subprocess.run(command, cwd=REPOSITORY_ROOT, stdout=subprocess.DEVNULL, check=False).returncode


def test_measures_the_delays_between_all_pairs_for_the_simulator(
    endpoint: str, supervisor: Supervisor, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    driver = DriverProcess(command("run", endpoint, supervisor, out, "delays"))
    assert driver.end() == 0, driver.all_said() + supervisor.logs()
    table = json.loads((out / "0006-nodes/repeat-01/latencies.json").read_text())
    assert sorted(table["regions"]) == sorted(REGIONS)
    assert [len(row) for row in table["oneWayMs"]] == [3, 3, 3]


def test_sessions_have_their_users_on_workers(
    endpoint: str, stage: Cloud, supervisor: Supervisor, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    machines = ["--regions", "eu-central-1", "--sizes", "2", "--instance-type", "t3.small"]
    sessions = ["--arms", "light-websocket", "--members", "2", "--sessions", "1"]
    times = ["--window", "1", "--warm-up", "1", "--budget", "30"]
    run = command("run", endpoint, supervisor, out, "sessions", *machines, "--", *sessions, *times)
    driver = DriverProcess(run)
    driver.wait_for("4 of 4 workers answer")
    assert driver.end() == 0, driver.all_said() + supervisor.logs()

    record = json.loads((out / "0002-workers/repeat-01/sessions.json").read_text())
    assert [(row["arm"], row["members"], row["joined"]) for row in record["rows"]] == [
        ("light-websocket", 2, 2)
    ]
    assert list_machines(stage.region("eu-central-1"), EXPERIMENT) == []
    tear_down(endpoint, stage)
