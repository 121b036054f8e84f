"""For tests only."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .addresses import Address, Addresses
from .cloud import Cloud
from .config import Config
from .control import Status
from .machines import Machine, list_machines
from .tools import Tools
from .waiting import Pace

TOKEN = "a-token-of-some-length"


def small_config(**changes: Any) -> Config:
    """Two regions, two nodes in each, the tracker in a third."""
    fields: dict[str, Any] = {
        "id": "test-1",
        "owner": "tester",
        "repository": "https://git.example/runnel.git",
        "revision": "0123456789abcdef0123456789abcdef01234567",
        "driver_cidr": "192.0.2.7/32",
        "regions": ("eu-central-1", "us-east-1"),
        "sizes": (4,),
    }
    return Config(**fields | changes)


def worker_config(**changes: Any) -> Config:
    """One machine with workers, and sessions on it."""
    fields = {
        "experiment": "sessions",
        "emulate_arguments": ("--arms", "light-websocket"),
        "regions": ("eu-west-1",),
        "sizes": (1,),
        "instance_type": "t3.xlarge",
        "driver_cidr": "10.0.0.7/32",
    }
    return small_config(**fields | changes)


class EveryAddress(Addresses):
    """Every machine is at 127.0.0.1; nothing is ever sent there."""

    def find(self, machines: Any) -> dict[str, Address]:
        """By id."""
        return {machine.id: Address("127.0.0.1", f"http://{machine.id}") for machine in machines}


@dataclass
class ObedientMachines:
    """Control APIs that answer at once: a tracker, and nodes; each process that is stopped is another one the next time."""

    stopped: list[str] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)
    trackers: set[str] = field(default_factory=set)
    restarts: bool = True

    def status(self, url: str) -> Status | None:
        """By the name of the machine."""
        if url in self.silent:
            return None
        pid = 100 + (self.stopped.count(url) if self.restarts else 0)
        return Status(
            "tracker" if url in self.trackers else "node", "0x" + "a" * 40, pid, "ws://127.0.0.1:30300"
        )

    def has_worker(self, place: str) -> bool:
        """All of them."""
        return place not in self.silent

    def stop(self, url: str) -> None:
        """Remembers it."""
        self.stopped.append(url)


@dataclass
class RecordingRunner:
    """Runs nothing, but leaves a record."""

    runs: list[tuple[str, Path]] = field(default_factory=list)
    """The file of hosts, if there was one, and where the record belongs."""
    arguments: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, experiment: str, out: Path, arguments: tuple[str, ...]) -> None:
        """As the real one, where all goes well."""
        hosts = Path(arguments[arguments.index("--hosts") + 1]).read_text() if "--hosts" in arguments else ""
        self.runs.append((hosts, out))
        self.arguments.append(arguments)


def tools_of(cloud: Cloud, control: Any, runner: Any, timeout_s: float = 30.0) -> Tools:
    """With no patience for nothing."""
    return Tools(cloud, EveryAddress(), control, runner, lambda text: None, Pace(0.01, timeout_s))


def machine_urls(machines: list[Machine]) -> set[str]:
    """Where `EveryAddress` says they are."""
    return {f"http://{machine.id}" for machine in machines}


class TrackerWatch(ObedientMachines):
    """Knows the tracker's machine as soon as there is one."""

    def __init__(self, cloud: Cloud, config: Config) -> None:
        super().__init__()
        self._cloud = cloud
        self._config = config

    def status(self, url: str) -> Status | None:
        """As the machine that has the address."""
        region = self._cloud.region(self._config.tracker_region)
        self.trackers = machine_urls(list_machines(region, self._config.id, "tracker"))
        return super().status(url)
