"""What an experiment is: where, how many machines, of what kind, and what runs on them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from .errors import AwsError
from .regions import thesis_regions

MAX_PER_REGION = 128
"""Largest Auto Scaling group: 16 of them make the 2,048 nodes of the thesis."""
NODE_VERSION = "24.21.0"
"""Node on the machines; the same as in scripts/run.mjs."""
CONTROL_PORT = 7172
WEBSOCKET_PORT = 7170
TRACKER_PORT = 30300
STUN_PORT = 3478
PING_PORT = 9
"""Of nodes that do not listen: nobody does there, and that the kernel says so takes one round trip. As in emulation/src/session/session.ts."""
WORKER_PORT = 7180
"""Of a machine's first bench worker; it has one for each processor, on the ports from there."""
MAX_WORKERS = 128
"""Of a machine; more processors than that are left idle."""
SESSIONS = ("sessions", "sessions-cost")
"""Experiments whose users are on bench workers; those of the others are nodes."""
LINKS = ("webrtc", "websocket", "mixed")
OVERLAYS = ("random", "topology-aware")

_patterns = {
    "id": r"[a-z0-9][a-z0-9-]{0,39}",
    "owner": r"[\w.@+-]{1,64}",
    "experiment": r"[a-z][a-z0-9-]{0,39}",
    "instance_type": r"[a-z0-9-]+\.[a-z0-9]+",
    "tracker_instance_type": r"[a-z0-9-]+\.[a-z0-9]+",
    "tracker_region": r"[a-z]{2}(-[a-z]+)+-\d",
    "repository": r"https://[\w.:/~-]{1,200}",
    "revision": r"[0-9a-f]{40}",
}


@dataclass(frozen=True, slots=True)
class Config:
    """An experiment. Raises INVALID_CONFIG when a field cannot be."""

    id: str
    owner: str
    repository: str
    """Where the machines fetch Runnel from, by HTTPS and without a password."""
    revision: str
    """Full hash of the commit that they run."""
    driver_cidr: str
    """Address of the driver: the control ports answer to nobody else."""
    experiment: str = "propagation"
    emulate_arguments: tuple[str, ...] = ()
    sizes: tuple[int, ...] = (32,)
    """Numbers of nodes, over all regions, one after the other."""
    repeats: int = 1
    regions: tuple[str, ...] = field(default_factory=thesis_regions)
    instance_type: str = "t3.small"
    tracker_region: str = "eu-north-1"
    tracker_instance_type: str = "c5.large"
    images: tuple[tuple[str, str], ...] = ()
    """Images of regions where it is not to be the newest Debian 12."""
    links: str = "webrtc"
    degree: int = 4
    overlay: str = "random"

    def __post_init__(self) -> None:
        if self.role == "worker":
            self._check_workers()
        for name, pattern in _patterns.items():
            _require(re.fullmatch(pattern, getattr(self, name)) is not None, name, getattr(self, name))
        for region in self.regions:
            _require(re.fullmatch(_patterns["tracker_region"], region) is not None, "regions", region)
        _require(0 < len(self.regions) == len(set(self.regions)), "regions", "none, or one twice")
        _require(len(self.sizes) > 0, "sizes", "none")
        for size in self.sizes:
            each, rest = divmod(size, len(self.regions))
            fits = rest == 0 and 1 <= each <= MAX_PER_REGION
            _require(
                fits,
                "sizes",
                f"{size} is no multiple of {len(self.regions)} regions, 1 to {MAX_PER_REGION} in each",
            )
        _require(1 <= self.repeats <= 1000, "repeats", str(self.repeats))
        _require(self.links in LINKS, "links", self.links)
        _require(self.overlay in OVERLAYS, "overlay", self.overlay)
        _require(self.degree >= 2 and self.degree % 2 == 0 and self.degree <= 32, "degree", str(self.degree))
        for region, image in self.images:
            _require(re.fullmatch(r"ami-[0-9a-f]{8,17}", image) is not None, "image", f"{region}={image}")
        _require(
            _is_one_address(self.driver_cidr),
            "driver_cidr",
            f"{self.driver_cidr} is not one address, such as 203.0.113.7/32",
        )

    def _check_workers(self) -> None:
        """Workers and driver talk in clear text, so that they do so inside one VPC, where the driver has the tracker."""
        _require(len(self.regions) == 1, "regions", "workers are in one, that of this machine")
        _require(
            self.experiment == "sessions" or self.sizes == (1,),
            "sizes",
            "sessions-cost has 1 machine, and counts the others",
        )
        _require(
            not _is_one_address(self.driver_cidr) or ipaddress.IPv4Network(self.driver_cidr).is_private,
            "driver_cidr",
            f"{self.driver_cidr} is public, and workers talk to their VPC only",
        )

    @property
    def role(self) -> Literal["node", "worker"]:
        """What the machines of the experiment are."""
        return "worker" if self.experiment in SESSIONS else "node"

    @property
    def all_regions(self) -> tuple[str, ...]:
        """Those of the machines and, last, that of the nodes' tracker where it is another."""
        if self.role == "worker":
            return self.regions
        return tuple(dict.fromkeys((*self.regions, self.tracker_region)))

    def per_region(self, size: int) -> int:
        """Machines in each region for a number of nodes."""
        return size // len(self.regions)

    def to_json(self) -> dict[str, Any]:
        """As it is kept in the state file."""
        return {name: _as_list(value) for name, value in asdict(self).items()}


def _as_list(value: Any) -> Any:
    return [_as_list(entry) for entry in value] if isinstance(value, tuple) else value


def _is_one_address(cidr: str) -> bool:
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError:
        return False
    return network.prefixlen == 32


def require_id(id: str) -> None:
    """Of an experiment: EC2 takes * and ? in a tag's filter for anything. Raises INVALID_CONFIG."""
    _require(re.fullmatch(_patterns["id"], id) is not None, "id", id)


def _require(holds: bool, name: str, value: str) -> None:
    if not holds:
        # A URL may have a password in it.
        raise AwsError("INVALID_CONFIG", f"{name}: {re.sub(r'//[^@/]*@', '//…@', value)}")
