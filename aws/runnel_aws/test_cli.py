"""The command line as people use it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from botocore.config import Config as ClientConfig

from . import cli
from .driver import Driver
from .errors import ERRORS, AwsError, error_line
from .regions import REPOSITORY_ROOT
from .state import State

EXPERIMENT = ["--id", "t", "--regions", "us-east-1", "--sizes", "2", "--driver-cidr", "192.0.2.7/32"]
REVISION = ["--repository", "https://git.example/runnel.git", "--revision", "0" * 40]


def run(*arguments: str) -> int:
    return cli.main([*arguments])


@pytest.mark.parametrize(
    "arguments", [[], ["dance"], ["run"], ["run", "--id", "x", "--out", "y", "--sizes", "many"]]
)
def test_a_wrong_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 64
    assert "(USAGE)" in capsys.readouterr().err


@pytest.mark.parametrize("id", ["*", "", "Paper"])
def test_tears_down_nothing_by_what_is_no_id(id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("teardown", "--id", id, "--regions", "us-east-1") == 78
    assert "(INVALID_CONFIG)" in capsys.readouterr().err


def test_an_emulated_aws_needs_to_be_told_where_its_machines_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run("run", *EXPERIMENT, *REVISION, "--out", str(tmp_path), "--endpoint-url", "http://127.0.0.1:1")
        == 78
    )
    assert "(ADDRESS_MAP_REQUIRED)" in capsys.readouterr().err


def test_nothing_starts_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    out = tmp_path / "out"
    command = [
        "run",
        *EXPERIMENT,
        *REVISION,
        "--out",
        str(out),
        "--endpoint-url",
        endpoint,
        "--address-map",
        "true",
    ]
    assert run(*command) == 1
    said = capsys.readouterr()
    assert "(NOT_CONFIRMED)" in said.err
    assert "total" in said.out and "Prices change" in said.out
    assert not out.exists()


def test_the_plan_has_costs_and_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], endpoint: str
) -> None:
    map_nobody = "python3 -c 'print({})'"
    command = [
        "plan",
        *EXPERIMENT,
        *REVISION,
        "--out",
        str(tmp_path),
        "--endpoint-url",
        endpoint,
        "--address-map",
        map_nobody,
    ]
    assert run(*command, "--", "--messages", "3") == 0
    said = capsys.readouterr().out
    assert "Prices change" in said
    assert "us-east-1  autoscaling  SetDesiredCapacity" in said
    assert "--messages 3" in said


def test_the_driver_of_workers_is_known_by_its_address_in_the_vpc(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runnel_aws.options._private_address", lambda: "10.0.0.9")
    out = ["--out", str(tmp_path), "--endpoint-url", endpoint, "--address-map", "true"]
    where = ["--id", "t", "--regions", "us-east-1", "--sizes", "2"]
    arms = ["--", "--arms", "light-websocket", "--members", "5"]
    assert run("plan", "sessions", *where, *REVISION, *out, *arms) == 0
    said = capsys.readouterr().out
    assert "total" in said and "tracker" not in said and "t3.xlarge" in said
    assert "10.0.0.9/32" in said and "--listen 10.0.0.9 --arms light-websocket --members 5" in said


def test_what_workers_cannot_do_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "sessions", *EXPERIMENT, *REVISION, "--out", str(tmp_path / "out"), "--yes"]
    assert run(*command, "--", "--arms", "browser") == 78
    assert "browser: users on workers are" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_experiment_that_does_not_exist_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "dance", *EXPERIMENT, *REVISION, "--out", str(tmp_path / "out"), "--yes"]
    assert run(*command) == 78
    assert "dance" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--hours", "--poll-interval", "--timeout"])
@pytest.mark.parametrize("value", ["0", "-5", "nan", "inf", "soon"])
def test_times_that_cannot_be_are_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    command = ["run", *EXPERIMENT, *REVISION, "--out", str(tmp_path / "out"), "--yes"]
    assert run(*command, f"{option}={value}") == 64
    assert option in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["setup", "run"])
def test_a_setup_that_fails_says_what_may_run_and_how_to_end_it(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    def fail(*_: object) -> None:
        raise AwsError("REGION_FAILED", "us-east-1: no more machines")

    monkeypatch.setattr("runnel_aws.setup.ensure_group", fail)
    monkeypatch.setattr("runnel_aws.setup._set_up_tracker", lambda *_: (None, ""))
    where = ["--out", str(tmp_path), "--endpoint-url", endpoint, "--address-map", "true", "--yes"]
    assert run(command, *EXPERIMENT, *REVISION, *where) == 1
    *_, failure, note = capsys.readouterr().err.splitlines()
    assert "us-east-1: no more machines" in failure and "stopped" not in failure
    assert "the tracker in eu-north-1" in note and "runnel_aws teardown --id t" in note


def test_a_state_that_cannot_be_read_hides_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(driver: Driver, state: State) -> None:
        driver._save(state.at("scale-out"))
        (tmp_path / "state.json").write_text("{", "utf-8")
        raise AwsError("REGION_FAILED", "us-east-1: no more machines")

    monkeypatch.setattr(Driver, "run", fail)
    nowhere = ["--endpoint-url", "http://127.0.0.1:1", "--address-map", "true"]
    assert run("run", *EXPERIMENT, *REVISION, *nowhere, "--out", str(tmp_path), "--yes") == 1
    *_, failure, note = capsys.readouterr().err.splitlines()
    assert "us-east-1: no more machines" in failure
    assert "the tracker in eu-north-1 and nodes in us-east-1" in note


def test_teardown_says_that_nothing_is_left(capsys: pytest.CaptureFixture[str], endpoint: str) -> None:
    assert run("teardown", "--id", "t", "--endpoint-url", endpoint) == 0
    assert "nothing of t is left in" in capsys.readouterr().err


def test_aws_that_is_not_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runnel_aws.cloud._client_config", ClientConfig(retries={"max_attempts": 1}))
    assert run("teardown", "--id", "t", "--endpoint-url", "http://127.0.0.1:1") == 69
    said = capsys.readouterr().err
    assert "(AWS_UNREACHABLE)" in said
    assert "Machines of t may still run" in said and "teardown --id t" in said


def test_an_error_is_one_line_with_what_to_do() -> None:
    line = error_line(AwsError("NO_IMAGE", "two\nlines."))
    assert (
        line == "The region has no image of Debian 12: two lines (NO_IMAGE). Name one: --image REGION=ami-…"
    )


def test_every_code_is_documented() -> None:
    readme = (REPOSITORY_ROOT / "aws/README.md").read_text("utf-8")
    assert [code for code in ERRORS if f"`{code}`" not in readme] == []
