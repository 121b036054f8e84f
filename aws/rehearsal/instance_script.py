"""Reads out of user data what a machine would have made of it."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstanceScript:
    """A node, a worker or a tracker, as cloud-init would have installed it."""

    role: str
    token: str
    network: str
    """The network file; empty for others."""
    command: str
    """What the systemd unit starts, with its `$RUNNEL_ARGUMENTS` and, of a worker, `%i`."""
    arguments_code: str
    """The part of the script that finds the arguments out."""
    services_code: str
    """The part of the script that says which units there are."""
    links: str

    def services(self, processors: int) -> list[str]:
        """Names of the unit's instances on a machine with so many processors, by the script's own code; empty where it is no template."""
        given = f"role={self.role}\nnproc() {{ echo {processors}; }}"
        code = f'set -eu\n{given}\n{self.services_code}\necho "${{services[@]}}"'
        units = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()
        return [unit.removesuffix(".service").partition("@")[2] for unit in units]

    def arguments(self, instance_id: str, address: str) -> str:
        """Those of a machine with this id and address, by the script's own code."""
        given = f"role={self.role} links={self.links} instance={instance_id} address={address}"
        code = f'set -eu\n{given}\n{self.arguments_code}\necho "$arguments"'
        return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def read_script(script: str) -> InstanceScript:
    """Raises ValueError when there is something it does not find."""
    role = _find(r"^role=(\w+)$", script)
    return InstanceScript(
        role=role,
        token=shlex.split(_find(r"^printf '%s' (\S+) >/etc/runnel/token$", script))[0],
        network=_find(r"^cat >/etc/runnel/network.json <<'END_OF_FILE'\n(.*?)\nEND_OF_FILE$", script),
        command=_find(rf"/runnel-{role}@?\.service <<'END_OF_FILE'\n.*?^ExecStart=(.*?)$", script),
        arguments_code=_find(r'^(case "\$role-\$links".*?)^printf', script),
        services_code=_find(r'^(case "\$role" in\n  worker\).*?^esac$)', script),
        links=_find(r"^links=(\w+)$", script),
    )


def _find(pattern: str, script: str) -> str:
    found = re.search(pattern, script, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"user data without {pattern}")
    return found[1]
