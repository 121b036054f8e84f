"""Watches the instances that moto lists, and plays those that run."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

from runnel_aws.atomic_file import write_file
from runnel_aws.cloud import Cloud, Region
from runnel_aws.config import CONTROL_PORT
from runnel_aws.machines import Machine, list_machines
from runnel_aws.processors import processors

from .instance_script import read_script
from .player import Player

LOOK_EVERY_S = 0.1


class Supervisor:
    """A thread that plays all machines of an experiment; says in `places.json` where they are."""

    def __init__(self, cloud: Cloud, experiment: str, directory: Path) -> None:
        self.places = directory / "places.json"
        self.players: dict[str, Player] = {}
        self._cloud = cloud
        self._experiment = experiment
        self._directory = directory
        # A network of its own, so that fixed ports are free on each of its addresses, whoever else runs here.
        self._network = f"127.{random.randint(16, 254)}.{random.randint(0, 255)}"
        self._hosts = 0
        self._stopping = Event()
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Supervisor:
        self._directory.mkdir()
        write_file(self.places, "{}")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
        for player in self.players.values():
            player.end()
        if self._failure is not None:
            raise self._failure

    def logs(self) -> str:
        """The ends of what all the processes have said."""
        return "\n".join(f"{name}: {player.log.read_text()[-800:]}" for name, player in self.players.items())

    def _watch(self) -> None:
        try:
            while not self._stopping.wait(LOOK_EVERY_S):
                self._look()
        except BaseException as failure:
            self._failure = failure

    def _look(self) -> None:
        found = {
            machine.id: region for region in self._cloud.regions.values() for machine in self._running(region)
        }
        for name in self.players.keys() - found.keys():
            self.players.pop(name).end()
        for name in found.keys() - self.players.keys():
            self.players[name] = self._play(found[name], name)
        for player in self.players.values():
            player.keep_up()
        places = {
            name: {"address": player.address, "control": f"http://{player.address}:{CONTROL_PORT}"}
            for name, player in self.players.items()
        }
        write_file(self.places, json.dumps(places))

    def _running(self, region: Region) -> list[Machine]:
        machines = list_machines(region, self._experiment)
        return [machine for machine in machines if machine.state == "running"]

    def _play(self, region: Region, name: str) -> Player:
        reply = region.ec2.describe_instance_attribute(InstanceId=name, Attribute="userData")
        script = read_script(base64.b64decode(reply["UserData"]["Value"]).decode())
        kind = region.ec2.describe_instance_attribute(InstanceId=name, Attribute="instanceType")
        count = processors(region, kind["InstanceType"]["Value"])
        self._hosts += 1
        address = f"{self._network}.{self._hosts}"
        return Player(name, script, address, count, self._directory / name)
