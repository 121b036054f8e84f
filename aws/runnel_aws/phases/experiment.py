"""Phase 3: wait for the nodes, then run the experiment on them: join, publish in pairs, download."""

from __future__ import annotations

from pathlib import Path

from ..addresses import Address
from ..config import Config
from ..control import answering
from ..errors import AwsError
from ..hosts_file import write_hosts_file
from ..machines import Machine, all_running, list_machines
from ..tools import Tools
from ..tracker_host import find_tracker


def run_experiment(tools: Tools, config: Config, size: int, directory: Path, out: Path) -> bool:
    """
    Leaves the record of the experiment in `out`. False where not all machines run any more and phase 2 is due once again.
    Raises TRACKER_UNREACHABLE, NODES_UNREACHABLE, EXPERIMENT_FAILED.
    """
    hosts_file = directory / "hosts.json"
    if tools.cloud.planned is not None:
        tools.cloud.planned.add(f"GET /v1/control of {size} nodes, until all answer")
        tools.runner.run(config.experiment, out, experiment_arguments(config, size, hosts_file))
        return True
    by_region = tools.cloud.in_each(
        config.regions, lambda region: list_machines(region, config.id, config.role)
    )
    if not all(all_running(machines, config.per_region(size)) for machines in by_region.values()):
        tools.say("machines are missing")
        return False
    machines = [machine for here in by_region.values() for machine in here if machine.state == "running"]
    addresses = _wait_for_nodes(tools, machines)
    tracker = find_tracker(tools, config)
    if tracker is None:
        raise AwsError("TRACKER_UNREACHABLE", f"no machine of it runs in {config.tracker_region}")
    write_hosts_file(hosts_file, tracker, machines, addresses, "token")
    tools.runner.run(config.experiment, out, experiment_arguments(config, size, hosts_file))
    return True


def experiment_arguments(config: Config, size: int, hosts_file: Path) -> tuple[str, ...]:
    """Where the machines are, what they were made for, and what the user wants besides."""
    made_for = (
        "--place",
        "hosts",
        "--hosts",
        str(hosts_file),
        "--nodes",
        str(size),
        "--links",
        config.links,
        "--degree",
        str(config.degree),
        "--overlay",
        config.overlay,
    )
    return (*made_for, *config.emulate_arguments)


def _wait_for_nodes(tools: Tools, machines: list[Machine]) -> dict[str, Address]:
    """Until every one is installed and answers; asks only those that have not yet."""
    addresses: dict[str, Address] = {}
    ready: set[str] = set()

    def look() -> bool | None:
        addresses.update(tools.addresses.find(machine for machine in machines if machine.id not in addresses))
        waiting = {name: address.control for name, address in addresses.items() if name not in ready}
        ready.update(answering(tools.control, waiting, lambda status: status.role == "node"))
        tools.say(f"{len(ready)} of {len(machines)} nodes answer")
        return True if len(ready) == len(machines) else None

    if tools.pace.until(look) is None:
        silent = [f"{machine.id} in {machine.region}" for machine in machines if machine.id not in ready]
        raise AwsError("NODES_UNREACHABLE", ", ".join(silent[:20]) + (", …" if len(silent) > 20 else ""))
    return addresses
