"""A server that plays AWS, for all tests: real HTTP, nothing patched."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import pytest

from rehearsal.moto_server import MotoServer
from runnel_aws.cloud import Cloud, Region
from runnel_aws.config import Config
from runnel_aws.testkit import small_config

os.environ.update(
    {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}
)
for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_CONFIG_FILE"):
    os.environ.pop(name, None)


# Descriptions of services are large: all sessions of the tests share what has been read.
setattr(botocore.session, "create_loader", functools.cache(botocore.session.create_loader))


@pytest.fixture(scope="session")
def moto_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MotoServer]:
    """One server for the session."""
    server = MotoServer(tmp_path_factory.mktemp("moto"))
    yield server
    server.stop()


@pytest.fixture
def endpoint(moto_server: MotoServer) -> str:
    """Where it answers, with nothing in it."""
    moto_server.reset()
    return moto_server.url


@pytest.fixture
def config() -> Config:
    """An experiment in two regions, with the tracker in a third."""
    return small_config()


@pytest.fixture
def cloud(endpoint: str, config: Config) -> Cloud:
    """The regions of that experiment."""
    return Cloud(config.all_regions, endpoint)


@pytest.fixture
def region(cloud: Cloud, config: Config) -> Region:
    """The first of them."""
    return cloud.region(config.regions[0])


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where an experiment keeps its things; not there yet."""
    return tmp_path / "out"
