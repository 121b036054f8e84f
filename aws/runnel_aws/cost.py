"""What an experiment will cost, before anything is started."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from .config import Config
from .errors import AwsError
from .launch_templates import VOLUME_GIB
from .session_plan import session_hours

INSTALL_HOURS = 0.25
"""From asking for machines until the last has built Runnel and answers; a guess on the safe side."""
FIXED_SECONDS = 240
"""Of a repeat: restart, join, settle, download."""
MESSAGES_PER_SECOND = 13.6
"""At which nodes publish two messages each in the thesis, section 5.4.2."""
HOURS_PER_MONTH = 730


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, by region of the machines, and for the tracker, if nodes need one."""

    regions: dict[str, float]
    tracker: float
    node_hours: float
    hours: float
    source: str

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.regions.values()) + self.tracker


def repeat_hours(size: int) -> float:
    """How long a repeat with so many nodes takes, if they publish at the rate of the thesis."""
    return (FIXED_SECONDS + 2 * size / MESSAGES_PER_SECOND) / 3600


def estimate(config: Config, hours_per_repeat: float | None = None) -> Cost:
    """
    Machines, their public addresses and volumes. Raises INVALID_CONFIG where no price is known. Left out: traffic between
    regions, and what T3 charges for more processor time than its own.
    """
    has_workers = config.role == "worker"
    # What sessions cannot do on workers is said now, whatever the hours.
    longest = session_hours(config) if has_workers else 0.0
    each = [
        INSTALL_HOURS + config.repeats * (hours_per_repeat or longest or repeat_hours(size))
        for size in config.sizes
    ]
    hours = sum(each) + (0.0 if has_workers else INSTALL_HOURS)
    prices = _prices()
    node_hours = sum(time * size for time, size in zip(each, config.sizes, strict=True))
    in_region = node_hours / len(config.regions)
    return Cost(
        {region: in_region * machine_price(config.instance_type, region) for region in config.regions},
        0.0 if has_workers else hours * machine_price(config.tracker_instance_type, config.tracker_region),
        node_hours,
        hours,
        f"{prices['source']} ({prices['date']})",
    )


def _prices() -> Any:
    return json.loads((files(__package__) / "data" / "prices.json").read_text("utf-8"))


def machine_price(instance_type: str, region: str) -> float:
    """US dollars an hour, with its public address and its volume. Raises INVALID_CONFIG where none is known."""
    prices = _prices()
    try:
        instance: float = prices["instanceUsdPerHour"][instance_type][region]
        volume: float = prices["volumeUsdPerGibMonth"][region] * VOLUME_GIB / HOURS_PER_MONTH
        address: float = prices["publicIpv4UsdPerHour"]
    except KeyError as error:
        raise AwsError(
            "INVALID_CONFIG", f"no price for {instance_type} in {region}: add it to data/prices.json"
        ) from error
    return instance + volume + address


def cost_table(config: Config, cost: Cost) -> str:
    """For people."""
    lines = [f"{'region':<16}{'machines, at most':>20}{'USD':>10}"]
    most = max(config.per_region(size) for size in config.sizes)
    lines += [f"{region:<16}{most:>20}{usd:>10.2f}" for region, usd in cost.regions.items()]
    about = f"About {cost.hours:.1f} hours, {cost.node_hours:.0f} machine hours."
    if config.role == "node":
        lines.append(f"{'tracker':<16}{1:>20}{cost.tracker:>10.2f}")
        about += f" Until teardown the tracker goes on costing {cost.tracker / cost.hours:.3f} USD an hour."
    machines = most * len(config.regions) + (1 if config.role == "node" else 0)
    lines += [
        f"{'total':<16}{machines:>20}{cost.total:>10.2f}",
        about,
        "Not counted: traffic between regions (0.02 to 0.14 USD a GB), processor time of T3 beyond its baseline (0.05 USD an hour of a vCPU), taxes.",
        f"Prices change. These are from {cost.source}.",
    ]
    return "\n".join(lines)
