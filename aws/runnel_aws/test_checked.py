"""What `emulate` says before anything is started: the real one is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from .checked import check_experiment
from .errors import AwsError
from .testkit import small_config, worker_config


def test_takes_what_the_experiment_takes(tmp_path: Path) -> None:
    check_experiment(small_config(emulate_arguments=("--messages", "3")), tmp_path / "out")
    check_experiment(worker_config(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"experiment": "dance"}, "dance"),
        ({"emulate_arguments": ("--messages", "none")}, "--messages is a whole number"),
        ({"experiment": "loss"}, "hosts cannot have their loss set"),
        ({"regions": ("us-east-1",), "sizes": (1,)}, "--nodes is a whole number from 2"),
    ],
)
def test_refuses_what_the_experiment_would_refuse_on_machines(
    tmp_path: Path, changes: dict[str, object], why: str
) -> None:
    with pytest.raises(AwsError) as error:
        check_experiment(small_config(**changes), tmp_path)
    assert error.value.code == "INVALID_CONFIG"
    assert why in str(error.value)


def test_says_that_there_is_no_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AwsError, match="npm") as error:
        check_experiment(small_config(), tmp_path)
    assert error.value.code == "INVALID_CONFIG"
