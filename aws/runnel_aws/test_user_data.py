"""The script that machines begin with."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .config import LINKS, Config
from .regions import REPOSITORY_ROOT
from .tags import Role
from .testkit import TOKEN, small_config, worker_config
from .user_data import MAX_BYTES, boot_file, network_file, user_data

NETWORK = network_file("0x" + "a" * 40, "ws://192.0.2.1:30300")


UNITS = ("runnel-node.service", "runnel-tracker.service", "runnel-stun.service", "runnel-worker@.service")


def script_of(role: Role, config: Config) -> str:
    return user_data(config, role, TOKEN, NETWORK if role == "node" else "")


@pytest.mark.parametrize("role", ["node", "tracker", "worker"])
@pytest.mark.parametrize("links", LINKS)
def test_is_a_small_bash_script_with_everything_filled_in(role: Role, links: str) -> None:
    script = script_of(role, small_config(links=links))
    assert len(script.encode()) < MAX_BYTES
    assert re.findall(r"@[a-z_]+@", script) == []
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_a_node_has_its_unit_clock_token_and_network(config: Config) -> None:
    script = script_of("node", config)
    for name in ("runnel-node.service", "chrony.conf"):
        assert boot_file(name) in script
    assert "runnel-tracker.service\n" not in script
    assert f"printf '%s' {TOKEN} >/etc/runnel/token" in script
    assert NETWORK in script
    assert config.revision in script and config.repository in script


def test_the_network_has_one_tracker_and_a_stream_for_everybody() -> None:
    document = json.loads(NETWORK)
    assert document["trackers"] == [{"nodeId": "0x" + "a" * 40, "url": "ws://192.0.2.1:30300"}]
    assert document["streams"] == [
        {
            "id": "0x" + "a" * 40 + "/experiment",
            "partitions": 100,
            "permissions": [{"user": "public", "publish": True, "subscribe": True}],
        }
    ]


def arguments(role: Role, config: Config, instance: str = "i-0a1") -> str:
    """What the script finds out for the process, on a machine with these."""
    block = re.search(
        r'^case "\$role-\$links".*?(?=^printf)', script_of(role, config), re.DOTALL | re.MULTILINE
    )
    assert block is not None
    given = f"set -eu; role={role} links={config.links} address=192.0.2.9 instance={instance}"
    reply = subprocess.run(
        ["bash", "-c", f'{given}\n{block[0]}\necho "$arguments"'], capture_output=True, text=True, check=True
    )
    return reply.stdout.strip()


def test_nodes_say_how_they_are_reached(config: Config) -> None:
    reachable = "--websocket-host 0.0.0.0 --websocket-port 7170 --websocket-public-url ws://192.0.2.9:7170"
    assert arguments("node", small_config(links="webrtc")) == "--no-websocket-listen"
    assert arguments("node", small_config(links="websocket")) == f"--no-webrtc-enabled {reachable}"
    mixed = small_config(links="mixed")
    assert arguments("node", mixed, "i-0a1") == "--no-websocket-listen"
    assert arguments("node", mixed, "i-0a2") == reachable


def test_the_tracker_says_where_it_and_the_stun_server_are() -> None:
    config = small_config(degree=6, overlay="topology-aware")
    assert arguments("tracker", config) == (
        "--public-url ws://192.0.2.9:30300 --ice-server stun:192.0.2.9:3478 --degree 6 --overlay topology-aware"
    )


def test_a_worker_listens_inside_its_vpc_and_has_its_token_where_only_its_user_reads() -> None:
    script = script_of("worker", worker_config())
    assert boot_file("runnel-worker@.service") in script and "runnel-node.service\n" not in script
    assert arguments("worker", worker_config()) == "--host 192.0.2.9"
    assert "worker ] && echo local-ipv4" in script
    env = f"printf 'RUNNEL_BENCH_TOKEN=%s\\n' {TOKEN} >>/etc/runnel/host.env"
    assert "umask" in script and script.rfind("umask 077", 0, script.index(env)) > script.rfind(
        "umask 022", 0, script.index(env)
    )


@pytest.mark.parametrize("name", UNITS)
def test_units_restart_always_and_have_no_rights_to_spare(name: str) -> None:
    unit = boot_file(name)
    for line in ("Restart=always", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict"):
        assert f"\n{line}\n" in unit
    assert "\nIPAddressDeny=169.254.169.254\n" in unit


def test_workers_take_as_many_drivers_as_those_of_the_experiment_itself() -> None:
    processes = (REPOSITORY_ROOT / "emulation/src/sessions/worker-processes.ts").read_text("utf-8")
    assert "const maxDrivers = 500\n" in processes
    assert " --drivers 500 " in boot_file("runnel-worker@.service")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
@pytest.mark.parametrize("name", UNITS)
def test_units_are_what_systemd_takes(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    # The programs are not on this machine.
    file.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", boot_file(name), flags=re.MULTILINE))
    reply = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(file)], capture_output=True, text=True, check=False
    )
    assert [line for line in reply.stderr.splitlines() if name in line] == []


def test_machines_take_their_time_from_amazon() -> None:
    assert "server 169.254.169.123 prefer iburst" in boot_file("chrony.conf")
