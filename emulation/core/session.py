"""A session of the CORE network emulator, for a process that says what to build and what to change.

One line of JSON on standard input, one on standard output, in turn:

    {"build": {"cities": [...], "links": [...], "hosts": [...]}}   once, first
        -> {"hosts": {"node-0": {"address": "10.1.0.2", "pid": 4711}, ...}, "convergedS": 12.3}
    {"loss": 0.05}    on the link of each host, each way, from now on
        -> {}
    {"facts": true}
        -> {"core": "9.2.1", "kernel": "6.1.0"}

What cannot be done is answered with {"error": {"code": "...", "message": "..."}}. The session ends with standard input. Others enter
the namespace of a host by the pid that its answer has.

Each city has a router, which runs OSPF with costs that follow the delays, and a switch with its hosts. Needs root, CORE 9.2, FRR
and a kernel with netem.
"""

from __future__ import annotations

import heapq
import json
import os
import platform
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from core.emulator.session import Session
    from core.nodes.base import CoreNode
    from core.nodes.network import SwitchNode

CONVERGED_WITHIN_S = 300.0
LOOK_EVERY_S = 0.5
# Hosts of a city have addresses in 10.CITY.0.0/24, the first is its router's.
MAX_CITIES = 200
MAX_HOSTS_PER_CITY = 253
# OSPF counts costs from 1 to 65535: here in units of 10 microseconds.
MICROSECONDS_PER_COST = 10
MAX_COST = 65535
# Of a router's link to its switch.
CITY_COST = 1
# Where packages of FRR keep its daemons. CORE looks for them on the PATH only.
FRR_FOLDERS = ("/usr/lib/frr", "/usr/libexec/frr")


class SessionError(Exception):
    """What went wrong, with a code that stays."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class City:
    name: str
    host_link_us: int


@dataclass(frozen=True)
class Link:
    """Between the routers of two cities, by their indexes."""

    a: int
    b: int
    delay_us: int


@dataclass(frozen=True)
class Host:
    name: str
    city: int
    address: str


@dataclass(frozen=True)
class Plan:
    cities: tuple[City, ...]
    links: tuple[Link, ...]
    hosts: tuple[Host, ...]


def parse_plan(build: dict[str, Any]) -> Plan:
    """Raises INVALID_PLAN."""
    try:
        cities = tuple(City(city["name"], microseconds(city["hostLinkMs"])) for city in build["cities"])
        index = {city.name: at for at, city in enumerate(cities)}
        links = tuple(
            Link(index[a], index[b], microseconds(delay_ms))
            for (a, b), delay_ms in ((link["between"], link["oneWayMs"]) for link in build["links"])
        )
        hosts = place_hosts([(host["name"], index[host["city"]]) for host in build["hosts"]])
    except (KeyError, TypeError, ValueError) as error:
        raise SessionError("INVALID_PLAN", repr(error)) from error
    if len(cities) > MAX_CITIES:
        raise SessionError("INVALID_PLAN", f"more than {MAX_CITIES} cities")
    return Plan(cities, links, hosts)


def microseconds(milliseconds: float) -> int:
    return round(milliseconds * 1000)


def place_hosts(cities_by_host: list[tuple[str, int]]) -> tuple[Host, ...]:
    counts: dict[int, int] = {}
    hosts = []
    for name, city in cities_by_host:
        counts[city] = count = counts.get(city, 0) + 1
        if count > MAX_HOSTS_PER_CITY:
            raise ValueError(f"more than {MAX_HOSTS_PER_CITY} hosts in a city")
        hosts.append(Host(name, city, f"10.{city + 1}.0.{count + 1}"))
    return tuple(hosts)


def ospf_cost(delay_us: int) -> int:
    return min(MAX_COST, max(CITY_COST, round(delay_us / MICROSECONDS_PER_COST)))


def network_of(city: int) -> str:
    return f"10.{city + 1}.0.0/24"


def shortest_costs(plan: Plan, source: int) -> dict[str, int]:
    """What OSPF has to find for the router of a city: the cost of the way to the network of each other city (Dijkstra)."""
    costs: dict[int, int] = {}
    ahead = [(0, source)]
    while ahead:
        cost, city = heapq.heappop(ahead)
        if city in costs:
            continue
        costs[city] = cost
        for link in plan.links:
            if city in (link.a, link.b):
                heapq.heappush(ahead, (cost + ospf_cost(link.delay_us), link.a + link.b - city))
    return {network_of(city): cost + CITY_COST for city, cost in costs.items() if city != source}


class Emulation:
    """The plan as a session of CORE."""

    def __init__(self, plan: Plan) -> None:
        try:
            from core.constants import COREDPY_VERSION
            from core.emulator.coreemu import CoreEmu
            from core.errors import CoreError
        except ImportError as error:
            message = f"{sys.executable} cannot import it: {error}"
            raise SessionError("CORE_UNAVAILABLE", message) from error
        self.version: str = COREDPY_VERSION
        self._plan = plan
        os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), *FRR_FOLDERS])
        try:
            write_files_in_turn()
            self._core = CoreEmu()
            self._core.service_manager.add(latency_ospf())
        except CoreError as error:
            raise SessionError("CORE_UNAVAILABLE", str(error)) from error
        # The folder and the devices of a session have its number in their names.
        self._session: Session = self._core.create_session(os.getpid())
        self._routers: list[CoreNode] = []
        self._hosts: dict[str, CoreNode] = {}
        self._host_links: list[tuple[CoreNode, SwitchNode, int, int]] = []

    def start(self) -> float:
        """Builds and starts everything. Returns the seconds until all routes were there."""
        from core.emulator.enumerations import EventTypes

        self._session.set_state(EventTypes.CONFIGURATION_STATE)
        switches = [self._add_city(at, city) for at, city in enumerate(self._plan.cities)]
        for number, link in enumerate(self._plan.links):
            self._add_link(number, link)
        for host in self._plan.hosts:
            self._add_host(host, switches[host.city])
        started = time.monotonic()
        errors = self._session.instantiate()
        if errors:
            raise SessionError("CORE_FAILED", "; ".join(str(error) for error in errors))
        self._await_routes(started + CONVERGED_WITHIN_S)
        return time.monotonic() - started

    def hosts(self) -> dict[str, dict[str, str | int | None]]:
        return {
            host.name: {"address": host.address, "pid": self._hosts[host.name].pid}
            for host in self._plan.hosts
        }

    def set_loss(self, rate: float) -> None:
        from core.emulator.data import LinkOptions

        for host, switch, host_iface, switch_iface in self._host_links:
            options = LinkOptions(loss=100 * rate)
            self._session.update_link(host.id, switch.id, host_iface, switch_iface, options)

    def stop(self) -> None:
        self._core.delete_session(self._session.id)

    def _add_city(self, at: int, city: City) -> SwitchNode:
        from core.emulator.data import InterfaceData
        from core.nodes.base import CoreNode
        from core.nodes.network import SwitchNode

        options = CoreNode.create_options()
        options.model = "router"
        options.services = ["FRRzebra", "LatencyOSPF", "IPForward"]
        router = self._session.add_node(CoreNode, name=f"router{at}", options=options)
        switch = self._session.add_node(SwitchNode, name=f"switch{at}")
        self._session.add_link(router.id, switch.id, InterfaceData(ip4=f"10.{at + 1}.0.1", ip4_mask=24))
        self._routers.append(router)
        return switch

    def _add_link(self, number: int, link: Link) -> None:
        from core.emulator.data import InterfaceData, LinkOptions

        # Four addresses for each link: two ends, and two that a network needs.
        network = f"10.{MAX_CITIES + 1 + number // 64}.0"
        first = 4 * (number % 64) + 1
        ends = (InterfaceData(ip4=f"{network}.{first + end}", ip4_mask=30) for end in (0, 1))
        a, b = self._routers[link.a], self._routers[link.b]
        self._session.add_link(a.id, b.id, *ends, LinkOptions(delay=link.delay_us or None))

    def _add_host(self, host: Host, switch: SwitchNode) -> None:
        from core.emulator.data import InterfaceData, LinkOptions
        from core.nodes.base import CoreNode

        options = CoreNode.create_options()
        options.services = ["DefaultRoute"]
        node = self._session.add_node(CoreNode, name=host.name, options=options)
        delay = LinkOptions(delay=self._plan.cities[host.city].host_link_us or None)
        address = InterfaceData(ip4=host.address, ip4_mask=24)
        host_iface, switch_iface = self._session.add_link(node.id, switch.id, address, None, delay)
        self._hosts[host.name] = node
        self._host_links.append((node, switch, host_iface.id, switch_iface.id))

    def _await_routes(self, until: float) -> None:
        """Until every router has the shortest ways to the networks of all other cities."""
        for city, router in enumerate(self._routers):
            wanted = shortest_costs(self._plan, city)
            if len(wanted) != len(self._routers) - 1:
                raise SessionError("INVALID_PLAN", f"no way from {router.name} to all others")
            while missing := wanted.items() - ospf_routes(router).items():
                if time.monotonic() > until:
                    raise SessionError("CORE_FAILED", f"{router.name} has not found {sorted(missing)}")
                time.sleep(LOOK_EVERY_S)


def ospf_routes(router: CoreNode) -> dict[str, int]:
    """The costs of the ways that a router has found, by network."""
    shown = json.loads(router.cmd("vtysh -c 'show ip route ospf json'") or "{}")
    return {
        network: route["metric"]
        for network, routes in shown.items()
        for route in routes
        if route.get("installed")
    }


def latency_ospf() -> type:
    """CORE's OSPF on FRR, with the cost of a link from its delay."""
    from core.nodes.interface import CoreInterface
    from core.services.defaults.frrservices.services import FRROspfv2

    class LatencyOspf(FRROspfv2):
        name: str = "LatencyOSPF"

        def frr_iface_config(self, iface: CoreInterface) -> str:
            return f"{super().frr_iface_config(iface)}\nip ospf cost {ospf_cost(iface.options.delay or 0)}"

    return LatencyOspf


def write_files_in_turn() -> None:
    """CORE starts nodes in threads. When these compile templates at the same time, Python 3.11 fails now and then ("AST constructor
    recursion depth mismatch", python/cpython issue 106905)."""
    from core.services.base import CoreService

    turn = threading.Lock()
    create_files = CoreService.create_files

    def create_files_in_turn(service: CoreService) -> None:
        with turn:
            create_files(service)

    CoreService.create_files = create_files_in_turn


class Conversation:
    """Requests and answers, over the life of one emulation."""

    def __init__(self) -> None:
        self._emulation: Emulation | None = None

    def answer(self, request: Any) -> dict[str, Any]:
        match request:
            case {"build": dict(build)} if self._emulation is None:
                self._emulation = Emulation(parse_plan(build))
                converged_s = self._emulation.start()
                return {"hosts": self._emulation.hosts(), "convergedS": round(converged_s, 3)}
            case {"loss": int() | float() as rate} if self._emulation and 0 <= rate <= 1:
                self._emulation.set_loss(rate)
                return {}
            case {"facts": True} if self._emulation:
                return {"core": self._emulation.version, "kernel": platform.release()}
        raise SessionError("INVALID_REQUEST", f"not understood, or not now: {json.dumps(request)[:200]}")

    def end(self) -> None:
        if self._emulation:
            self._emulation.stop()


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answers until the requests end."""
    conversation = Conversation()
    try:
        for line in requests:
            try:
                answer = conversation.answer(json.loads(line))
            except SessionError as error:
                answer = {"error": {"code": error.code, "message": str(error)}}
            except Exception as error:  # of CORE, or of a program that it starts
                answer = {"error": {"code": "CORE_FAILED", "message": f"{type(error).__name__}: {error}"}}
            print(json.dumps(answer), file=answers, flush=True)
    finally:
        conversation.end()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
