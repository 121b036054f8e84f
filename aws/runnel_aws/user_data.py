"""The script that turns a fresh machine into a host of the experiment; cloud-init runs it once."""

from __future__ import annotations

import json
import re
import shlex
from importlib.resources import files

from .config import MAX_WORKERS, NODE_VERSION, WORKER_PORT, Config
from .tags import Role

MAX_BYTES = 16 * 1024
"""What EC2 takes, before base64."""
_places = {
    "chrony.conf": "/etc/chrony/chrony.conf",
    "runnel-node.service": "/etc/systemd/system/runnel-node.service",
    "runnel-tracker.service": "/etc/systemd/system/runnel-tracker.service",
    "runnel-worker@.service": "/etc/systemd/system/runnel-worker@.service",
    "runnel-stun.service": "/etc/systemd/system/runnel-stun.service",
}
_needed: dict[Role, tuple[str, ...]] = {
    "node": ("chrony.conf", "runnel-node.service"),
    "worker": ("chrony.conf", "runnel-worker@.service"),
    "tracker": ("chrony.conf", "runnel-tracker.service", "runnel-stun.service"),
}


def boot_file(name: str) -> str:
    """The text of a file in boot/."""
    return (files(__package__) / "boot" / name).read_text("utf-8")


def user_data(config: Config, role: Role, token: str, network: str = "") -> str:
    """The script for a node, a worker or the tracker. `network` is the network file of the nodes; the others need none."""
    values = {
        "role": role,
        "links": config.links,
        "degree": str(config.degree),
        "overlay": config.overlay,
        "worker_port": str(WORKER_PORT),
        "max_workers": str(MAX_WORKERS),
        "node_version": NODE_VERSION,
        "repository": shlex.quote(config.repository),
        "revision": config.revision,
        "token": shlex.quote(token),
        "files": "\n".join(_here_document(name) for name in _needed[role]),
        "network": network,
    }
    # In one pass: what is filled in is not looked at again.
    script = re.sub(r"@(\w+)@", lambda match: values[match[1]], boot_file("install.sh"))
    if len(script.encode()) > MAX_BYTES:
        raise ValueError(f"user data of {len(script.encode())} bytes, at most {MAX_BYTES}")
    return script


def network_file(tracker_id: str, tracker_url: str) -> str:
    """A network without a chain: one tracker, and its stream, which everybody may use: that of emulation/'s experiments."""
    everybody = {"user": "public", "publish": True, "subscribe": True}
    document = {
        "version": 1,
        "trackers": [{"nodeId": tracker_id, "url": tracker_url}],
        "streams": [{"id": f"{tracker_id}/experiment", "partitions": 100, "permissions": [everybody]}],
    }
    return json.dumps(document)


def _here_document(name: str) -> str:
    return f"cat >{_places[name]} <<'END_OF_FILE'\n{boot_file(name)}END_OF_FILE"
