"""What an experiment may be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .config import NODE_VERSION, PING_PORT, Config
from .errors import AwsError
from .regions import REPOSITORY_ROOT, thesis_regions
from .testkit import small_config, worker_config


def test_the_regions_are_those_of_the_thesis_in_its_order() -> None:
    regions = thesis_regions()
    assert len(regions) == 16
    assert (regions[0], regions[4], regions[-1]) == ("eu-central-1", "eu-north-1", "sa-east-1")


def test_sizes_of_the_thesis_are_spread_evenly() -> None:
    config = small_config(regions=thesis_regions(), sizes=(32, 64, 128, 256, 512, 1024, 2048))
    assert [config.per_region(size) for size in config.sizes] == [2, 4, 8, 16, 32, 64, 128]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", "Has Spaces"),
        ("owner", "a;b"),
        ("experiment", "../../x"),
        ("revision", "main"),
        ("repository", "git@host:x.git"),
        ("repository", "https://host/$(reboot)"),
        ("repository", "https://user:secret@host/x.git"),
        ("driver_cidr", "0.0.0.0/0"),
        ("driver_cidr", "nowhere/32"),
        ("regions", ()),
        ("regions", ("eu-central-1", "eu-central-1")),
        ("regions", ("http://x",)),
        ("sizes", ()),
        ("sizes", (3,)),
        ("sizes", (0,)),
        ("sizes", (2 * 129,)),
        ("repeats", 0),
        ("links", "carrier-pigeon"),
        ("overlay", "none"),
        ("degree", 3),
        ("images", (("eu-central-1", "not-an-image"),)),
    ],
)
def test_refuses_what_cannot_be_and_names_it(name: str, value: Any) -> None:
    with pytest.raises(AwsError) as error:
        small_config(**{name: value})
    assert error.value.code == "INVALID_CONFIG"
    assert ("image" if name == "images" else name) in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"), [("regions", ("eu-west-1", "us-east-1")), ("driver_cidr", "8.8.8.8/32")]
)
def test_workers_and_their_driver_are_in_one_vpc(name: str, value: Any) -> None:
    with pytest.raises(AwsError, match=name):
        worker_config(**{name: value, "sizes": (2,)})


def test_the_final_experiment_is_run_on_one_machine() -> None:
    with pytest.raises(AwsError, match="sizes"):
        worker_config(experiment="sessions-cost", sizes=(2,))


def test_workers_need_no_tracker() -> None:
    assert (worker_config().role, worker_config().all_regions) == ("worker", ("eu-west-1",))
    assert small_config().role == "node"


def test_all_regions_have_the_tracker_once(config: Config) -> None:
    assert config.all_regions == ("eu-central-1", "us-east-1", "eu-north-1")
    assert small_config(tracker_region="us-east-1").all_regions == ("eu-central-1", "us-east-1")


def test_the_machines_run_the_node_that_developers_do() -> None:
    assert f"const pinnedNode = '{NODE_VERSION}'" in (REPOSITORY_ROOT / "scripts/run.mjs").read_text("utf-8")


def test_what_nodes_ping_is_let_through() -> None:
    session = (REPOSITORY_ROOT / "emulation/src/session/session.ts").read_text("utf-8")
    assert f"const unusedPort = {PING_PORT}\n" in session


def test_survives_json(config: Config) -> None:
    assert json.loads(json.dumps(config.to_json())) == config.to_json()
