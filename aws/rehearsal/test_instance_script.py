"""What the rehearsal reads out of user data is what is in it."""

from __future__ import annotations

import pytest

from runnel_aws.tags import Role
from runnel_aws.testkit import TOKEN, small_config
from runnel_aws.user_data import network_file, user_data

from .instance_script import read_script


def test_reads_a_node() -> None:
    network = network_file("0x" + "a" * 40, "ws://192.0.2.1:30300")
    script = read_script(user_data(small_config(links="websocket"), "node", TOKEN, network))
    assert (script.role, script.token, script.network, script.links) == ("node", TOKEN, network, "websocket")
    assert script.command.startswith(
        "/opt/node/bin/node /opt/runnel/packages/node/bin/runnel.js node --network"
    )
    assert "ws://127.0.0.9:7170" in script.arguments("i-1", "127.0.0.9")


def test_reads_a_tracker() -> None:
    script = read_script(user_data(small_config(), "tracker", TOKEN))
    assert script.role == "tracker"
    assert "runnel.js tracker --key /etc/runnel/tracker.key" in script.command
    assert "--public-url ws://127.0.0.9:30300" in script.arguments("i-1", "127.0.0.9")


def test_reads_a_worker() -> None:
    script = read_script(user_data(small_config(), "worker", TOKEN))
    assert (script.role, script.token) == ("worker", TOKEN)
    assert "runnel.js bench worker --port %i --drivers 500 $RUNNEL_ARGUMENTS" in script.command
    assert script.arguments("i-1", "127.0.0.9") == "--host 127.0.0.9"


def test_only_workers_are_as_many_as_processors() -> None:
    def services(role: Role) -> list[str]:
        return read_script(user_data(small_config(), role, TOKEN)).services(3)

    assert services("worker") == ["7180", "7181", "7182"]
    assert services("node") == services("tracker") == [""]


def test_refuses_another_script() -> None:
    with pytest.raises(ValueError, match="user data without"):
        read_script("#!/bin/bash\n")
