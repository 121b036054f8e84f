"""What `emulate sessions` and `sessions-cost` will do on workers, as far as it can be told, and must be, before machines are paid for."""

from __future__ import annotations

import argparse
from typing import NoReturn

from .config import Config
from .errors import AwsError

LIGHT = ("light-websocket", "light-webrtc")
OURS = ("--worker", "--listen", "--machines", "--machine-price", "--machine-name", "--out")
"""Options that are given to the experiment, so that nobody else gives them."""
# As in emulation/src/sessions/session-plan.ts and sessions-cost-command.ts.
START_S, FIRST_WARM_UP_S, STOP_S = 30, 10, 30
JOIN_S, JOINS_PER_S = 10, 4
COST_WARM_UP_S, COST_WINDOW_S, COST_BUDGET_S = 3, 1, 300


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise AwsError("INVALID_CONFIG", f"after --: {message}")


def session_hours(config: Config) -> float:
    """The longest that a run of the experiment takes. Raises INVALID_CONFIG for what it would refuse once machines are there."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    for ours in OURS:
        parser.add_argument(ours, action="append")
    seconds = _sessions_s if config.experiment == "sessions" else _cost_s
    return seconds(parser, config.emulate_arguments) / 3600


def _sessions_s(parser: _Parser, arguments: tuple[str, ...]) -> float:
    parser.add_argument("--arms", required=True)
    parser.add_argument("--members", default="2,3,5,8")
    for name, default in (("--window", 5), ("--budget", 300)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--warm-up", "--warmUp", type=int, default=3)
    given = _parse(parser, arguments)
    arms = _light(parser, given.arms.split(","))
    sizes = [_number(parser, text) for text in given.members.split(",")]
    each = given.budget + given.warm_up + given.window
    return sum(len(arms) * _fill_s(members, each) for members in sizes)


def _cost_s(parser: _Parser, arguments: tuple[str, ...]) -> float:
    parser.add_argument("--held", required=True)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--hold", type=int, default=60)
    given = _parse(parser, arguments)
    arms = _light(parser, [one.split("=")[0] for one in given.held.split(",")])
    each = COST_BUDGET_S + COST_WARM_UP_S + COST_WINDOW_S + given.hold
    return len(arms) * _fill_s(given.members, each)


def _fill_s(members: int, seconds: float) -> float:
    return START_S + FIRST_WARM_UP_S + seconds + members / JOINS_PER_S + JOIN_S + STOP_S


def _parse(parser: _Parser, arguments: tuple[str, ...]) -> argparse.Namespace:
    given, _ = parser.parse_known_args(list(arguments))
    for ours in OURS:
        if getattr(given, ours.removeprefix("--").replace("-", "_")) is not None:
            parser.error(f"{ours} is given by this driver")
    return given


def _light(parser: _Parser, arms: list[str]) -> list[str]:
    for arm in arms:
        if arm not in LIGHT:
            parser.error(f"{arm}: users on workers are {' or '.join(LIGHT)}")
    return arms


def _number(parser: _Parser, text: str) -> int:
    if not text.isdecimal():
        parser.error(f"--members: {text} is no number")
    return int(text)
