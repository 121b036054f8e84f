"""Which machines may still run, and so cost, when a driver ends before its experiment does."""

from __future__ import annotations

from .config import Config
from .errors import AwsError
from .state import State


def what_may_run(config: Config, state: State, error: BaseException) -> str:
    """Of a driver that had come so far, and ended with that; says how they are ended."""
    machines: list[str] = []
    if config.role == "node":
        machines.append(f"the tracker in {config.tracker_region}")
    if _has_scaled_out(state) and not (isinstance(error, AwsError) and error.all_ended):
        machines.append(f"{config.role}s in {', '.join(config.regions)}")
    if len(machines) == 0:
        return (
            f"No machine of {config.id} that was started from this folder runs. "
            f"To end any others, and delete the rest: {teardown_command(config.id)}"
        )
    return f"May still run, and cost: {' and '.join(machines)}. To end them: {teardown_command(config.id)}"


def teardown_command(id: str) -> str:
    """Ends all machines of an experiment, in whatever region."""
    return f"python3 -m runnel_aws teardown --id {id}"


def _has_scaled_out(state: State) -> bool:
    """Whether machines have been asked for: between repeats they stay."""
    is_first = state.size == 0 and state.repeat == 0
    return state.phase != "setup" and not (state.phase == "tracker" and is_first)
