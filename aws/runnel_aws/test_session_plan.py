"""What sessions take, and what they cannot be on workers."""

from __future__ import annotations

import re

import pytest

from . import session_plan
from .config import Config
from .errors import AwsError
from .regions import REPOSITORY_ROOT
from .session_plan import session_hours
from .testkit import worker_config

SESSIONS = REPOSITORY_ROOT / "emulation/src/sessions"


def plan(experiment: str, *arguments: str) -> Config:
    return worker_config(experiment=experiment, emulate_arguments=arguments)


def test_is_as_long_as_the_experiment_may_take() -> None:
    times = ("--budget", "60", "--warm-up=2", "--window", "4")
    one = plan("sessions", "--arms", "light-websocket", "--members", "8", *times)
    assert session_hours(one) * 3600 == pytest.approx(30 + 10 + 60 + 2 + 4 + (8 / 4 + 10) + 30)
    both = plan("sessions", "--arms", "light-websocket,light-webrtc", "--members", "8,8", *times)
    assert session_hours(both) == pytest.approx(4 * session_hours(one))
    cost = plan("sessions-cost", "--held", "light-websocket=11", "--members", "2", "--hold", "20")
    assert session_hours(cost) * 3600 == pytest.approx(30 + 10 + 300 + 3 + 1 + 20 + (2 / 4 + 10) + 30)


def test_bounds_and_defaults_are_those_of_the_experiment() -> None:
    bounds, sessions, cost = (
        (SESSIONS / name).read_text("utf-8").replace("_", "")
        for name in ("session-plan.ts", "sessions-command.ts", "sessions-cost-command.ts")
    )
    for name, seconds in (("start", 30), ("usualFirstWarmUp", 10), ("stop", 30)):
        assert f"const {name}Ms = {1000 * seconds}\n" in bounds
    assert "joinMs: 10000" in bounds and f"joinsPerS = {session_plan.JOINS_PER_S}\n" in bounds
    for name, default in (("window", "5"), ("'warm-up'", "3"), ("members", "'2,3,5,8'")):
        assert re.search(rf"{name}: {{\s*type: '\w+',\s*default: {default},", sessions), name
    assert re.search(r"budget: {\s*type: 'number',\s*default: 300,", sessions)
    for name, value in (("members", 5), ("hold", 60)):
        assert f"{name}: {{ type: 'number', default: {value}," in cost
    for name, ms in (("warmUpMs", 3000), ("windowMs", 1000), ("budgetMs", 300000)):
        assert f"const {name} = {ms}\n" in cost


@pytest.mark.parametrize(
    ("experiment", "arguments", "why"),
    [
        ("sessions", (), "--arms"),
        ("sessions", ("--arms", "light-websocket,headless"), "headless"),
        ("sessions", ("--arms", "light-websocket", "--members", "two"), "two is no number"),
        ("sessions", ("--arms", "light-websocket", "--worker", "elsewhere:1"), "--worker"),
        ("sessions-cost", ("--members", "2"), "--held"),
        ("sessions-cost", ("--held", "browser=2"), "browser"),
        ("sessions-cost", ("--held", "light-websocket=2", "--machine-price", "1"), "--machine-price"),
    ],
)
def test_what_would_fail_on_machines_that_are_paid_for_is_refused_before(
    experiment: str, arguments: tuple[str, ...], why: str
) -> None:
    with pytest.raises(AwsError) as error:
        session_hours(plan(experiment, *arguments))
    assert error.value.code == "INVALID_CONFIG"
    assert why in str(error.value)
