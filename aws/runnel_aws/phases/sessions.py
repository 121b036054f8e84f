"""Phase 3 with workers: wait until all listen, then run the experiment here, with its users there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..config import Config
from ..control import CONNECTIONS
from ..cost import machine_price
from ..errors import AwsError
from ..machines import Machine, all_running, list_machines
from ..processors import worker_ports
from ..tools import Tools


def run_sessions(tools: Tools, config: Config, size: int, out: Path) -> bool:
    """
    Leaves the record of the experiment in `out`. False where not all machines run any more and phase 2 is due once again.
    Raises WORKERS_UNREACHABLE, EXPERIMENT_FAILED.
    """
    region = tools.cloud.region(config.regions[0])
    ports = worker_ports(region, config.instance_type)
    if tools.cloud.planned is not None:
        places = [f"(machine-{number + 1}):{port}" for number in range(size) for port in ports]
        tools.cloud.planned.add(f"GET {len(places)} workers, until all answer")
    else:
        machines = list_machines(region, config.id, "worker")
        if not all_running(machines, size):
            tools.say("machines are missing")
            return False
        running = [machine for machine in machines if machine.state == "running"]
        places = _wait_for_workers(tools, running, ports)
    tools.runner.run(config.experiment, out, session_arguments(config, places))
    return True


def session_arguments(config: Config, places: list[str]) -> tuple[str, ...]:
    """Where users are, and what the user wants besides. The tracker listens where the workers see this machine."""
    where = [argument for place in places for argument in ("--worker", place)]
    where += ["--listen", config.driver_cidr.removesuffix("/32")]
    if config.experiment == "sessions-cost":
        price = machine_price(config.instance_type, config.regions[0])
        where += ["--machine-price", f"{price:.6f}", "--machine-name", config.instance_type]
    return (*where, *config.emulate_arguments)


def _wait_for_workers(tools: Tools, machines: list[Machine], ports: range) -> list[str]:
    """host:port of each, machine by machine, once every one is installed and answers."""
    places: list[str] = []
    ready: set[str] = set()

    def look() -> bool | None:
        addresses = tools.addresses.find(machines)
        known = [addresses[machine.id].address for machine in machines if machine.id in addresses]
        places[:] = [f"{address}:{port}" for address in known for port in ports]
        waiting = [place for place in places if place not in ready]
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            answers = zip(waiting, pool.map(tools.control.has_worker, waiting), strict=True)
            ready.update(place for place, answer in answers if answer)
        of = len(machines) * len(ports)
        tools.say(f"{len(ready)} of {of} workers answer")
        return True if len(ready) == of else None

    if tools.pace.until(look) is None:
        silent = [place for place in places if place not in ready]
        raise AwsError(
            "WORKERS_UNREACHABLE", ", ".join(silent[:20]) + (", …" if len(silent) > 20 else "")
        )
    return places
