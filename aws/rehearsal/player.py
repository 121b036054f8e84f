"""Plays one instance: processes on a loopback address of its own, which are started anew whenever they end."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from runnel_aws.regions import REPOSITORY_ROOT

from .instance_script import InstanceScript


class Player:
    """Does what systemd would do with the unit in the user data, on a machine with so many processors."""

    def __init__(
        self, instance_id: str, script: InstanceScript, address: str, processors: int, directory: Path
    ) -> None:
        self.address = address
        self.log = directory / "log"
        self._directory = directory
        directory.mkdir(parents=True)
        (directory / "token").write_text(script.token)
        (directory / "network.json").write_text(script.network)
        if script.role == "tracker":
            self._run(
                self._here(
                    "/opt/node/bin/node /opt/runnel/packages/node/bin/runnel.js key new /etc/runnel/tracker.key"
                )
            )
        arguments = script.arguments(instance_id, address)
        command = script.command.replace("$RUNNEL_ARGUMENTS", arguments)
        self._environment = _environment()
        if script.role == "worker":
            self._environment["RUNNEL_BENCH_TOKEN"] = script.token
        self._commands = [self._here(command.replace("%i", name)) for name in script.services(processors)]
        self._processes = [self._start(here) for here in self._commands]

    def keep_up(self) -> None:
        """Restart=always."""
        for at, process in enumerate(self._processes):
            if process.poll() is not None:
                self._processes[at] = self._start(self._commands[at])

    def end(self) -> None:
        """The machine is gone, without a word to its processes."""
        for process in self._processes:
            process.kill()
            process.wait()

    def _here(self, command: str) -> list[str]:
        """The command with the paths and addresses of this machine."""
        places = {
            "/opt/node/bin/node": shutil.which("node") or "node",
            "/opt/runnel": str(REPOSITORY_ROOT),
            "/etc/runnel": str(self._directory),
            "0.0.0.0": self.address,
        }
        for place, here in places.items():
            command = command.replace(place, here)
        return shlex.split(command)

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment
            )

    def _run(self, command: list[str]) -> None:
        with self.log.open("ab") as log:
            subprocess.run(command, stdout=log, stderr=log, check=True, env=_environment())


def _environment() -> dict[str, str]:
    """Without options for other Runnels."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RUNNEL_")}
