"""What is said of machines that a driver leaves behind."""

from __future__ import annotations

import pytest

from .errors import AwsError
from .state import State
from .still_running import what_may_run
from .testkit import small_config, worker_config

TEARDOWN = "python3 -m runnel_aws teardown --id test-1"
TRACKER = "the tracker in eu-north-1"
NODES = "nodes in eu-central-1, us-east-1"


@pytest.mark.parametrize(
    ("state", "machines"),
    [
        (State("setup"), TRACKER),
        (State("tracker"), TRACKER),
        (State("tracker", repeat=1), f"{TRACKER} and {NODES}"),
        (State("scale-out"), f"{TRACKER} and {NODES}"),
        (State("scale-in"), f"{TRACKER} and {NODES}"),
    ],
)
def test_names_the_machines_and_the_command_that_ends_them(state: State, machines: str) -> None:
    said = what_may_run(small_config(), state, KeyboardInterrupt())
    assert said == f"May still run, and cost: {machines}. To end them: {TEARDOWN}"


def test_the_tracker_stays_where_all_nodes_were_ended() -> None:
    error = AwsError("REGION_FAILED")
    error.all_ended = True
    assert f": {TRACKER}. " in what_may_run(small_config(), State("scale-out"), error)


def test_workers_have_no_tracker() -> None:
    config = worker_config()
    said = what_may_run(config, State("setup"), KeyboardInterrupt())
    assert said.startswith("No machine of test-1 that was started from this folder runs. ")
    assert said.endswith(TEARDOWN) and "costs nothing" not in said
    assert ": workers in eu-west-1. " in what_may_run(config, State("scale-out"), KeyboardInterrupt())
