"""Moto's server: the HTTP API of EC2 and Auto Scaling, without machines."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from runnel_aws.images import DEBIAN_ACCOUNT
from runnel_aws.waiting import Pace

NEWEST_IMAGE = "ami-0000000000000d12"


class MotoServer:
    """Runs as a process of its own on a free port. Knows two images of Debian 12, and refuses to start what it does not know."""

    def __init__(self, directory: Path) -> None:
        images = directory / "images.json"
        images.write_text(
            json.dumps([_image("ami-0000000000000d11", "2025-01-01"), _image(NEWEST_IMAGE, "2026-01-01")])
        )
        port = free_port("127.0.0.1")
        self.url = f"http://127.0.0.1:{port}"
        self._log = (directory / "moto.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            env={**os.environ, "MOTO_AMIS_PATH": str(images), "MOTO_ENABLE_AMI_VALIDATION": "true"},
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        if Pace(0.1, 60).until(self._answers) is None:
            self.stop()
            raise RuntimeError(
                f"moto's server does not answer: {(directory / 'moto.log').read_text()[-2000:]}"
            )

    def reset(self) -> None:
        """Forgets all that was made."""
        self._post("/moto-api/reset")

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait()
        self._log.close()

    def _answers(self) -> bool | None:
        if self._process.poll() is not None:
            raise RuntimeError("moto's server has ended")
        try:
            self._post("/moto-api/reset")
        except OSError:
            return None
        return True

    def _post(self, path: str) -> None:
        with urllib.request.urlopen(
            urllib.request.Request(self.url + path, method="POST"), timeout=30
        ) as reply:
            reply.read()


def free_port(host: str) -> int:
    """A port nobody listens on."""
    with socket.socket() as listener:
        listener.bind((host, 0))
        port: int = listener.getsockname()[1]
        return port


def _image(image_id: str, date: str) -> dict[str, str | bool]:
    return {
        "ami_id": image_id,
        "name": f"debian-12-amd64-{date}",
        "description": "Debian 12",
        "owner_id": DEBIAN_ACCOUNT,
        "creation_date": f"{date}T00:00:00.000Z",
        "architecture": "x86_64",
        "virtualization_type": "hvm",
        "hypervisor": "xen",
        "image_type": "machine",
        "image_location": "amazon/debian",
        "platform": "",
        "public": True,
        "root_device_name": "/dev/xvda",
        "root_device_type": "ebs",
        "sriov": "simple",
        "state": "available",
    }
