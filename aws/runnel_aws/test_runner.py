"""The experiment as a process: an npm that is a script of ours, on the PATH."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .dry_run import PlannedCalls
from .errors import AwsError
from .regions import REPOSITORY_ROOT
from .runner import EmulateRunner, PlannedRunner, command
from .testkit import TOKEN


@pytest.fixture
def lock(tmp_path: Path) -> int:
    """A file descriptor to hand on."""
    return os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)


def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """An npm that does this; returns where records belong."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(f"#!/bin/bash\nout=$(sed 's/.*--out \\([^ ]*\\).*/\\1/' <<<\"$*\")\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "results"


def test_the_record_is_where_it_belongs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: int) -> None:
    out = npm(tmp_path, monkeypatch, 'echo "$PWD $* $RUNNEL_BENCH_TOKEN" >"$out/propagation.json"')
    EmulateRunner(lock, TOKEN).run("propagation", out, ("--nodes", "2"))
    assert (out / "propagation.json").read_text() == (
        f"{REPOSITORY_ROOT} run -s emulate -- propagation --out {out} --nodes 2 {TOKEN}\n"
    )
    os.close(lock)


@pytest.mark.parametrize(("script", "why"), [("exit 3", "exit code 3"), ("exit 0", "no record in")])
def test_an_experiment_that_fails_or_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: int, script: str, why: str
) -> None:
    out = npm(tmp_path, monkeypatch, script)
    with pytest.raises(AwsError) as error:
        EmulateRunner(lock, TOKEN).run("churn", out, ())
    assert error.value.code == "EXPERIMENT_FAILED"
    assert why in str(error.value)
    os.close(lock)


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGHUP])
def test_a_driver_that_is_told_to_end_takes_the_experiment_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: int, told: signal.Signals
) -> None:
    os.close(lock)
    # npm's own child holds the pipe to the driver's stdout: it is closed only once that has ended, too.
    out = npm(tmp_path, monkeypatch, "echo begun; bash -c 'sleep 600; true'; true")
    code = (
        "from pathlib import Path; from runnel_aws.cli import end_in_order_on_signals;"
        "from runnel_aws.runner import EmulateRunner; end_in_order_on_signals();"
        f"EmulateRunner(2, 'token').run('churn', Path({str(out)!r}), ())"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=REPOSITORY_ROOT / "aws",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert driver.stdout is not None
    assert driver.stdout.readline() == b"begun\n"
    driver.send_signal(told)
    assert driver.stdout.read() == b""
    assert driver.wait() == -signal.SIGINT
    driver.stdout.close()


def test_a_dry_run_only_says_the_command(tmp_path: Path) -> None:
    planned = PlannedCalls(lambda step: None)
    PlannedRunner(planned).run("churn", tmp_path / "results", ("--nodes", "2"))
    assert planned.steps == [" ".join(command("churn", tmp_path / "results", ("--nodes", "2")))]
    assert not (tmp_path / "results").exists()
