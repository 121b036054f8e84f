"""State that outlives its driver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .atomic_file import write_file
from .config import Config
from .errors import AwsError
from .state import State, StateDirectory
from .testkit import small_config


def test_begins_with_setup_and_goes_on_where_it_was(directory: Path, config: Config) -> None:
    kept = StateDirectory(directory, config)
    assert kept.load() == State("setup", 0, 0)
    kept.save(kept.load().at("experiment", size=0, repeat=2))
    assert StateDirectory(directory, config).load() == State("experiment", 0, 2)


def test_loading_leaves_no_trace(directory: Path, config: Config) -> None:
    StateDirectory(directory, config).load()
    assert not directory.exists()


def test_refuses_other_options_and_says_which_but_lets_the_driver_move(
    directory: Path, config: Config
) -> None:
    StateDirectory(directory, config).save(State())
    StateDirectory(directory, small_config(driver_cidr="198.51.100.1/32")).load()
    with pytest.raises(AwsError) as error:
        StateDirectory(directory, small_config(sizes=(8,), repeats=2)).load()
    assert error.value.code == "CONFIG_CHANGED"
    assert str(error.value).endswith("sizes, repeats")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format":"runnel-aws-state","version":1,"config":{},"state":{"phase":"dancing"}}'],
)
def test_refuses_a_file_that_is_no_state(directory: Path, config: Config, text: str) -> None:
    directory.mkdir()
    (directory / "state.json").write_text(text)
    with pytest.raises(AwsError) as error:
        StateDirectory(directory, config).load()
    assert error.value.code == "STATE_INVALID"


def test_the_token_is_made_once_and_nobody_else_reads_it(directory: Path, config: Config) -> None:
    kept = StateDirectory(directory, config)
    token = kept.token()
    assert len(token) >= 32
    assert StateDirectory(directory, config).token() == token
    assert kept.token_file.stat().st_mode & 0o777 == 0o600


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_file(path, "old")
    with path.open() as reader:
        write_file(path, "new")
        assert reader.read() == "old"
    assert path.read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


def test_one_driver_at_a_time_also_after_it_was_killed_while_its_experiment_goes_on(
    directory: Path, config: Config
) -> None:
    kept = StateDirectory(directory, config)
    with kept.lock() as lock:
        with pytest.raises(AwsError) as error, kept.lock():
            pass
        assert error.value.code == "ALREADY_RUNNING"
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,))
    with pytest.raises(AwsError), kept.lock():
        pass
    child.communicate(b"\n")
    with kept.lock():
        pass


def test_the_state_says_what_was_asked_for(directory: Path, config: Config) -> None:
    StateDirectory(directory, config).save(State())
    kept = json.loads((directory / "state.json").read_text())
    assert kept["config"]["sizes"] == [4]
    assert "token" not in json.dumps(kept)
