"""Runs an experiment of emulation/ on machines that are there: the TypeScript driver, told where they are."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from .dry_run import PlannedCalls
from .errors import AwsError
from .regions import REPOSITORY_ROOT


class Runner(Protocol):
    """Runs an experiment to its end, with its record in the directory. Raises EXPERIMENT_FAILED."""

    def run(self, experiment: str, out: Path, arguments: tuple[str, ...]) -> None: ...


def command(experiment: str, out: Path, arguments: tuple[str, ...]) -> list[str]:
    """What is run, in the root of the repository."""
    return ["npm", "run", "-s", "emulate", "--", experiment, "--out", str(out), *arguments]


class EmulateRunner:
    """
    A process group of its own, which ends with this driver where that is told to end. It holds the driver's lock too: where
    the driver is killed and the experiment goes on, no second driver gets in its way. The token is for bench workers.
    """

    def __init__(self, lock: int, token: str) -> None:
        self._lock = lock
        self._token = token

    def run(self, experiment: str, out: Path, arguments: tuple[str, ...]) -> None:
        """Its output goes where the driver's goes. Raises EXPERIMENT_FAILED."""
        out.mkdir(parents=True, exist_ok=True)
        child = subprocess.Popen(
            command(experiment, out, arguments),
            cwd=REPOSITORY_ROOT,
            env={**os.environ, "RUNNEL_BENCH_TOKEN": self._token},
            stdin=subprocess.DEVNULL,
            pass_fds=(self._lock,),
            start_new_session=True,
        )
        try:
            code = child.wait()
        finally:
            end_group(child)
        if code != 0:
            raise AwsError("EXPERIMENT_FAILED", f"exit code {code}")
        if not (out / f"{experiment}.json").exists() and not (out / "latencies.json").exists():
            raise AwsError("EXPERIMENT_FAILED", f"no record in {out}")


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Ends the child and all it started, and waits for the child."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    child.wait()


class PlannedRunner:
    """Of a dry run."""

    def __init__(self, planned: PlannedCalls) -> None:
        self._planned = planned

    def run(self, experiment: str, out: Path, arguments: tuple[str, ...]) -> None:
        """Only says so."""
        self._planned.add(shlex.join(command(experiment, out, arguments)))
