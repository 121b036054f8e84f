"""The file that tells the experiments of emulation/ which machines there are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .addresses import Address
from .atomic_file import write_file
from .machines import Machine
from .tracker_host import TrackerHost


def write_hosts_file(
    path: Path,
    tracker: TrackerHost,
    nodes: Sequence[Machine],
    addresses: Mapping[str, Address],
    token_file: str,
) -> None:
    """The tracker and the nodes, region by region in turn as the nodes of the simulator are, with where each is reached."""
    hosts = {
        "format": "runnel-hosts",
        "version": 1,
        "source": "aws",
        "tracker": _host("tracker", tracker.machine.region, tracker.address),
        "nodes": [_host(node.id, node.region, addresses[node.id]) for node in in_turn(nodes)],
        "tokenFile": token_file,
    }
    write_file(path, json.dumps(hosts, indent=2) + "\n")


def in_turn(nodes: Sequence[Machine]) -> list[Machine]:
    """One of each region, then the second of each."""
    seen: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    for position, node in enumerate(nodes):
        seen[node.region] = seen.get(node.region, -1) + 1
        places.append((seen[node.region], position))
    return [nodes[position] for _, position in sorted(places)]


def _host(name: str, site: str, address: Address) -> dict[str, str]:
    return {"name": name, "site": site, "address": address.address, "control": address.control}
