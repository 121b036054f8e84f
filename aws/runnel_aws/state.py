"""How far a driver has come, in a file that outlives it: one that was killed goes on where it was."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from .atomic_file import write_file
from .config import Config
from .errors import AwsError

FORMAT = "runnel-aws-state"
Phase = Literal["setup", "tracker", "scale-out", "experiment", "scale-in", "finished"]
PHASES: tuple[Phase, ...] = ("setup", "tracker", "scale-out", "experiment", "scale-in", "finished")


@dataclass(frozen=True, slots=True)
class State:
    """What is to be done next: a phase, for one of the sizes and one of the repeats (both from 0)."""

    phase: Phase = "setup"
    size: int = 0
    repeat: int = 0

    def at(self, phase: Phase, size: int | None = None, repeat: int | None = None) -> State:
        """The state once that phase is next."""
        return replace(
            self,
            phase=phase,
            size=self.size if size is None else size,
            repeat=self.repeat if repeat is None else repeat,
        )


def first_phase(config: Config) -> Phase:
    """Of each repeat. The tracker of workers is the driver's, and begins anew by itself."""
    return "tracker" if config.role == "node" else "scale-out"


class StateDirectory:
    """The directory of an experiment: its state, its token, and what comes of it. Made if there is none."""

    def __init__(self, path: Path, config: Config) -> None:
        self.path = path
        self._config = config.to_json()
        self._file = path / "state.json"
        self.token_file = path / "token"
        #: The last that was loaded or was to be saved: known also where the file cannot be read any more.
        self.last = State()

    def load(self) -> State:
        """The state of the experiment; a fresh one at first. Raises CONFIG_CHANGED, STATE_INVALID."""
        if not self._file.exists():
            return State()
        try:
            kept: Any = json.loads(self._file.read_text("utf-8"))
            state = State(**kept["state"])
            config = kept["config"]
            right = kept["format"] == FORMAT and kept["version"] == 1 and state.phase in PHASES
            right = (
                right
                and isinstance(state.size, int)
                and isinstance(state.repeat, int)
                and isinstance(config, dict)
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AwsError("STATE_INVALID", str(self._file)) from error
        if not right:
            raise AwsError("STATE_INVALID", str(self._file))
        changed = [
            name
            for name, value in self._config.items()
            if config.get(name) != value and name != "driver_cidr"
        ]
        if len(changed) > 0:
            raise AwsError("CONFIG_CHANGED", f"{self._file}: {', '.join(changed)}")
        self.last = state
        return state

    def save(self, state: State) -> None:
        """Keeps how far it has come."""
        self.last = state
        self.path.mkdir(parents=True, exist_ok=True)
        kept = {"format": FORMAT, "version": 1, "config": self._config, "state": asdict(state)}
        write_file(self._file, json.dumps(kept, indent=2) + "\n")

    def token(self) -> str:
        """The token of the control APIs: made at first, and readable by nobody else."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.token_file.exists():
            write_file(self.token_file, secrets.token_urlsafe(32), mode=0o600)
        return self.token_file.read_text("utf-8").strip()

    @contextmanager
    def lock(self) -> Iterator[int]:
        """
        Keeps other drivers out. The lock is a file descriptor, and whoever it is handed to holds the lock as well: what a
        killed driver has started still keeps out the next one. Raises ALREADY_RUNNING.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise AwsError("ALREADY_RUNNING", str(self.path)) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)
