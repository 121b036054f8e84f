"""The control API of nodes and trackers (docs of `runnel node --control-enabled`), as far as the driver needs it, and bench workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from .dry_run import PlannedCalls

MAX_ANSWER_BYTES = 1024 * 1024
CONNECTIONS = 64
"""How many machines are asked at once."""


@dataclass(frozen=True, slots=True)
class Status:
    """Who answers."""

    role: str
    node_id: str
    pid: int
    websocket_url: str | None


class Control(Protocol):
    """What the driver asks of machines. A machine that does not answer as it should has no status."""

    def status(self, url: str) -> Status | None: ...
    def stop(self, url: str) -> None: ...
    def has_worker(self, place: str) -> bool: ...


class HttpControl:
    """By HTTP, with the token of the experiment."""

    def __init__(self, token: str, timeout_s: float = 10.0) -> None:
        self._headers = {"authorization": f"Bearer {token}"}
        self._timeout_s = timeout_s
        # Straight to the machine, whatever proxy the environment names: the token is for the machine alone.
        self._opener = build_opener(ProxyHandler({}))

    def status(self, url: str) -> Status | None:
        """Who answers there; None while nobody does."""
        try:
            return _read_status(self._ask(Request(f"{url}/v1/control", headers=self._headers)))
        except (OSError, HTTPException, ValueError):
            return None

    def stop(self, url: str) -> None:
        """Asks the process to end. What comes of it, its status tells: many are gone before they have answered."""
        request = Request(f"{url}/v1/control/stop", data=b"{}", method="POST", headers=self._headers)
        request.add_header("content-type", "application/json")
        try:
            self._ask(request)
        except (OSError, HTTPException):
            return

    def has_worker(self, place: str) -> bool:
        """Whether a bench worker listens at host:port: it refuses all but WebSockets. It is not told the token."""
        try:
            with self._opener.open(f"http://{place}", timeout=self._timeout_s):
                return False
        except HTTPError as refusal:
            with refusal:
                return refusal.code == HTTPStatus.UPGRADE_REQUIRED
        except (OSError, HTTPException):
            return False

    def _ask(self, request: Request) -> bytes:
        with self._opener.open(request, timeout=self._timeout_s) as reply:
            answer = reply.read(MAX_ANSWER_BYTES + 1)
        if not isinstance(answer, bytes) or len(answer) > MAX_ANSWER_BYTES:
            raise ValueError("the answer is too long")
        return answer


class PlannedControl:
    """Of a dry run: says what it would ask, and answers as if all went well."""

    def __init__(self, planned: PlannedCalls) -> None:
        self._planned = planned
        self._pid = 0

    def status(self, url: str) -> Status | None:
        """A process; another each time."""
        self._planned.add(f"GET {url}/v1/control, until it answers")
        self._pid += 1
        return Status("tracker", "(nodeId)", self._pid, "(websocketUrl)")

    def stop(self, url: str) -> None:
        """Only says so."""
        self._planned.add(f"POST {url}/v1/control/stop")

    def has_worker(self, place: str) -> bool:
        """Only says so."""
        self._planned.add(f"GET http://{place}")
        return True


def answering(control: Control, urls: Mapping[str, str], is_right: Callable[[Status], bool]) -> set[str]:
    """Names of those machines that answer as they should, all asked at once."""

    def answers(name: str) -> bool:
        status = control.status(urls[name])
        return status is not None and is_right(status)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        names = list(urls)
        return {name for name, right in zip(names, pool.map(answers, names), strict=True) if right}


def _read_status(answer: bytes) -> Status:
    """Raises ValueError when it is not what the API answers."""
    status: Any = json.loads(answer)
    if not isinstance(status, dict):
        raise ValueError("no object")
    role, node_id, pid, url = (status.get(name) for name in ("role", "nodeId", "pid", "websocketUrl"))
    if not (isinstance(role, str) and isinstance(node_id, str) and isinstance(pid, int)):
        raise ValueError("no status")
    return Status(role, node_id, pid, url if isinstance(url, str) else None)
