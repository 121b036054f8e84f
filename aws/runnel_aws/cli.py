"""The commands: plan, setup, run, teardown."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from botocore.exceptions import BotoCoreError, ClientError

from .addresses import Addresses, MappedAddresses, PrivateAddresses, PublicAddresses
from .checked import check_experiment
from .cloud import Cloud, as_aws_error
from .config import Config, require_id
from .control import HttpControl, PlannedControl
from .cost import cost_table, estimate
from .driver import Driver
from .dry_run import PlannedCalls
from .errors import AwsError, error_line
from .options import config_from, parse
from .runner import EmulateRunner, PlannedRunner
from .setup import setup
from .state import State, StateDirectory, first_phase
from .still_running import teardown_command, what_may_run
from .teardown import teardown
from .tools import Tools
from .waiting import Pace


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns its exit code."""
    end_in_order_on_signals()
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        if options.command == "teardown":
            _teardown(options)
        else:
            _experiment(options)
        return 0
    except AwsError as error:
        return _fail(error, error)
    except (ClientError, BotoCoreError) as error:
        return _fail(as_aws_error(error), error)
    except KeyboardInterrupt as interrupt:
        _say("interrupted. The same command goes on where it was.")
        _say_notes(interrupt)
        return 130


def _experiment(options: argparse.Namespace) -> None:
    if options.endpoint_url is not None and options.address_map is None:
        raise AwsError("ADDRESS_MAP_REQUIRED")
    config = config_from(options)
    print(cost_table(config, estimate(config, options.hours)), flush=True)
    check_experiment(config, options.out)
    directory = StateDirectory(options.out, config)
    if options.command == "plan" or options.dry_run:
        _plan(options, config, directory)
        return
    _confirm(options)
    with directory.lock() as lock:
        state = directory.load()
        try:
            _drive(options, config, directory, state, lock)
        except BaseException as error:
            error.add_note(what_may_run(config, directory.last, error))
            raise


def _drive(
    options: argparse.Namespace, config: Config, directory: StateDirectory, state: State, lock: int
) -> None:
    token = directory.token()
    tools = _tools(options, config, HttpControl(token), EmulateRunner(lock, token))
    if options.command == "setup":
        setup(tools, config, token)
        if state.phase == "setup":
            directory.save(state.at(first_phase(config)))
        if config.role == "node":
            _say(f"The tracker runs. To end it: {teardown_command(config.id)}")
        return
    Driver(tools, config, options.out, token, directory.save).run(state)
    _say_what_next(options.out, config)


def _plan(options: argparse.Namespace, config: Config, directory: StateDirectory) -> None:
    planned = PlannedCalls(lambda step: print(step, flush=True))
    tools = _tools(options, config, PlannedControl(planned), PlannedRunner(planned), planned)
    state = directory.load()
    if options.command == "setup":
        setup(tools, config, "(token)")
    else:
        Driver(tools, config, options.out, "(token)", _forget).run(state)


def _tools(
    options: argparse.Namespace,
    config: Config,
    control: HttpControl | PlannedControl,
    runner: EmulateRunner | PlannedRunner,
    planned: PlannedCalls | None = None,
) -> Tools:
    return Tools(
        Cloud(config.all_regions, options.endpoint_url, planned),
        _addresses(options, config),
        control,
        runner,
        _say_news(),
        Pace(options.poll_interval, options.timeout),
    )


def _addresses(options: argparse.Namespace, config: Config) -> Addresses:
    if options.address_map is not None:
        return MappedAddresses(options.address_map)
    return PrivateAddresses() if config.role == "worker" else PublicAddresses()


def _teardown(options: argparse.Namespace) -> None:
    require_id(options.id)
    try:
        _delete_all(options)
    except BaseException as error:
        error.add_note(
            f"Machines of {options.id} may still run, and cost. To end them, again: {teardown_command(options.id)}"
        )
        raise


def _delete_all(options: argparse.Namespace) -> None:
    planned = PlannedCalls(lambda step: print(step, flush=True)) if options.dry_run else None
    regions = options.regions
    if regions is None:
        first = Cloud(("us-east-1",), options.endpoint_url).region("us-east-1")
        regions = tuple(sorted(region["RegionName"] for region in first.ec2.describe_regions()["Regions"]))
    cloud = Cloud(regions, options.endpoint_url, planned)
    teardown(cloud, options.id, Pace(options.poll_interval, options.timeout), _say_news())
    if planned is None:
        _say(f"nothing of {options.id} is left in {len(regions)} regions")


def _confirm(options: argparse.Namespace) -> None:
    if options.yes:
        return
    print("Start this? Type yes: ", end="", flush=True)
    if sys.stdin.readline().strip() != "yes":
        raise AwsError("NOT_CONFIRMED")


def _say_what_next(out: Path, config: Config) -> None:
    records = out / f"*-{config.role}s" / "repeat-*" / f"{config.experiment}.json"
    if config.role == "worker":
        _say(f"done: {records}")
        _say(f"No machine runs. To delete the rest: {teardown_command(config.id)}")
        return
    _say(f"done. The report: npm run -s sim -- report {records} --out {out / 'report'}")
    _say(f"The tracker still runs. To end it: {teardown_command(config.id)}")


def _forget(state: State) -> None:
    """A dry run leaves no trace."""


def _fail(error: AwsError, cause: BaseException) -> int:
    """The notes are those of the cause."""
    _say(error_line(error))
    _say_notes(cause)
    return error.exit_code


def _say_notes(error: BaseException) -> None:
    for note in getattr(error, "__notes__", ()):
        _say(note)


def _say(text: str) -> None:
    print(f"runnel: {text}", file=sys.stderr, flush=True)


def _say_news() -> Callable[[str], None]:
    """Says nothing twice in a row: who waits wants to see what changes."""
    last = ""

    def say(text: str) -> None:
        nonlocal last
        if text != last:
            _say(text)
        last = text

    return say


def end_in_order_on_signals() -> None:
    """As on a Ctrl-C. SIGHUP comes when the terminal is closed."""
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
