"""What the experiment itself says of its name and arguments, before machines are paid for."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from .config import Config
from .errors import AwsError
from .phases.experiment import experiment_arguments
from .phases.sessions import session_arguments
from .regions import REPOSITORY_ROOT
from .runner import command

_any_worker = "192.0.2.1:7180"
_any_token = "token"


def check_experiment(config: Config, out: Path) -> None:
    """Asks `emulate`, with the arguments that it will be given once machines run. Raises INVALID_CONFIG."""
    size = min(config.sizes)
    arguments = (
        session_arguments(config, [_any_worker])
        if config.role == "worker"
        else experiment_arguments(config, size, out / "hosts.json")
    )
    try:
        ended = subprocess.run(
            command(config.experiment, out, (*arguments, "--check")),
            cwd=REPOSITORY_ROOT,
            env={**os.environ, "RUNNEL_BENCH_TOKEN": _any_token},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise AwsError("INVALID_CONFIG", f"npm, which runs the experiment: {error}") from error
    if ended.returncode != 0:
        raise AwsError("INVALID_CONFIG", f"{config.experiment}: {_reason(ended.stderr)}")


def _reason(said: str) -> str:
    """The line with the code of an error, without its code; the last one where there is none."""
    lines = [line.strip() for line in said.splitlines() if line.strip() != ""]
    coded = (match.group(1) for line in lines if (match := re.fullmatch(r"[A-Z]\w+: (.+)", line)) is not None)
    return next(coded, lines[-1] if len(lines) > 0 else "it does not start")
