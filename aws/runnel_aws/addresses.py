"""Where machines are reached: at their public addresses, inside their VPC, or where a command says. The latter is for rehearsals."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from .config import CONTROL_PORT
from .errors import AwsError
from .machines import Machine


@dataclass(frozen=True, slots=True)
class Address:
    """IPv4 address of a machine, and where its control API answers."""

    address: str
    control: str


class Addresses(Protocol):
    """Finds machines. One that is not in the answer has no address yet."""

    def find(self, machines: Iterable[Machine]) -> dict[str, Address]: ...


def _with_control(ips: Iterable[tuple[str, str | None]]) -> dict[str, Address]:
    """By id of the machine; without those that have no address."""
    return {
        machine_id: Address(ip, f"http://{ip}:{CONTROL_PORT}") for machine_id, ip in ips if ip is not None
    }


class PublicAddresses:
    """As AWS says."""

    def find(self, machines: Iterable[Machine]) -> dict[str, Address]:
        """By id of the machine."""
        return _with_control((machine.id, machine.public_ip) for machine in machines)


class PrivateAddresses:
    """As AWS says, inside the machines' VPC."""

    def find(self, machines: Iterable[Machine]) -> dict[str, Address]:
        """By id of the machine."""
        return _with_control((machine.id, machine.private_ip) for machine in machines)


class MappedAddresses:
    """
    Asks a command: it reads a JSON list of machines on its input, and prints a JSON object of those it knows, by id:
    `{"i-0abc": {"address": "127.1.2.3", "control": "http://127.1.2.3:7172"}}`.
    """

    def __init__(self, command: str, timeout_s: float = 60.0) -> None:
        self._command = shlex.split(command)
        self._timeout_s = timeout_s

    def find(self, machines: Iterable[Machine]) -> dict[str, Address]:
        """By id of the machine. Raises ADDRESS_MAP_FAILED."""
        question = json.dumps([asdict(machine) for machine in machines])
        try:
            ended = subprocess.run(
                self._command,
                input=question,
                capture_output=True,
                text=True,
                check=True,
                timeout=self._timeout_s,
            )
            answer: Any = json.loads(ended.stdout)
            return {
                str(name): Address(str(entry["address"]), str(entry["control"]))
                for name, entry in answer.items()
            }
        except subprocess.CalledProcessError as error:
            raise AwsError(
                "ADDRESS_MAP_FAILED", f"exit code {error.returncode}: {error.stderr[:500]}"
            ) from error
        except (
            OSError,
            subprocess.SubprocessError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
        ) as error:
            raise AwsError("ADDRESS_MAP_FAILED", str(error)) from error
