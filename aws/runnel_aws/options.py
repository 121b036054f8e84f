"""The command line, and what is asked of the surroundings where it says nothing."""

from __future__ import annotations

import argparse
import math
import os
import socket
import subprocess
import urllib.request
from pathlib import Path
from typing import NoReturn

from .config import LINKS, OVERLAYS, SESSIONS, Config
from .errors import AwsError
from .regions import REPOSITORY_ROOT, thesis_regions

_description = """\
Experiments of Runnel on machines in AWS regions: an Auto Scaling group in each, a tracker, and the four phases of the thesis.

  plan      what would be done and what it would cost; changes nothing
  setup     security groups, tracker, launch templates, empty groups
  run       setup where it is missing, then: restart the tracker, start machines, run the experiment, end machines.
            Killed or failed, the same command goes on where it was
  teardown  delete all that the experiment has made, found by its tags in every region
"""
_epilog = "What follows -- is handed to the experiment: npm run emulate -- EXPERIMENT --help. Exit codes: 0 ok, 1 failure, 64 wrong command line, 65 bad state file, 69 something does not answer, 77 no credentials, 78 bad configuration."
AWS_ADDRESS_SERVICE = "https://checkip.amazonaws.com"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise AwsError("USAGE", message)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options, as given. Raises USAGE."""
    ours, rest = _split(arguments)
    parser = _Parser(
        "runnel_aws",
        description=_description,
        epilog=_epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in ("plan", "setup", "run"):
        _add_experiment(commands.add_parser(name, allow_abbrev=False), name)
    remove = commands.add_parser("teardown", allow_abbrev=False)
    _add_common(remove)
    remove.add_argument(
        "--regions",
        type=_names,
        help="only these; default: all of the account, and no others than these can have been used",
    )
    remove.add_argument("--dry-run", action="store_true", help="say what would be deleted")
    options = parser.parse_args(ours)
    options.emulate_arguments = tuple(rest)
    return options


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--id", required=True, help="name of the experiment, in the tags of all that it makes"
    )
    parser.add_argument(
        "--endpoint-url", default=os.environ.get("AWS_ENDPOINT_URL"), help="an emulated AWS, for rehearsals"
    )
    parser.add_argument(
        "--poll-interval", type=_more_than_0, default=5.0, metavar="SECONDS", help="how often to look; default: 5"
    )
    parser.add_argument(
        "--timeout",
        type=_more_than_0,
        default=1800.0,
        metavar="SECONDS",
        help="how long to wait for machines; default: 1800",
    )


def _add_experiment(parser: argparse.ArgumentParser, name: str) -> None:
    _add_common(parser)
    parser.add_argument(
        "experiment",
        nargs="?",
        default="propagation",
        help="of npm run emulate; default: propagation. delays measures all pairs of machines; sessions and sessions-cost have bench workers instead of nodes, and run in their VPC",
    )
    parser.add_argument("--out", type=_absolute, required=True, metavar="DIR", help="state, token and records")
    parser.add_argument(
        "--owner", default=os.environ.get("USER", "unknown"), help="for the tags; default: the user"
    )
    parser.add_argument(
        "--sizes",
        type=_numbers,
        metavar="N,…",
        help="numbers of nodes over all regions, default: 32; or of machines with workers, default: 1",
    )
    parser.add_argument("--repeats", type=int, default=1, help="of each size; default: 1")
    parser.add_argument(
        "--regions",
        type=_names,
        default=thesis_regions(),
        metavar="REGION,…",
        help="default: the 16 of the thesis",
    )
    parser.add_argument("--instance-type", help="default: t3.small, of workers t3.xlarge")
    parser.add_argument("--tracker-region", default="eu-north-1", help="default: eu-north-1")
    parser.add_argument("--tracker-instance-type", default="c5.large", help="default: c5.large")
    parser.add_argument(
        "--image",
        action="append",
        default=[],
        metavar="REGION=AMI",
        help="instead of the newest Debian 12; may be repeated",
    )
    parser.add_argument(
        "--repository", help="where the machines fetch Runnel from, by HTTPS; default: that of this checkout"
    )
    parser.add_argument("--revision", help="commit they run; default: that of this checkout")
    parser.add_argument("--links", choices=LINKS, default="webrtc", help="how nodes connect; default: webrtc")
    parser.add_argument("--degree", type=int, default=4, help="neighbours of a node; default: 4")
    parser.add_argument("--overlay", choices=OVERLAYS, default="random", help="default: random")
    parser.add_argument(
        "--driver-cidr",
        metavar="ADDRESS/32",
        help=f"who may use the control API, or workers; default: as {AWS_ADDRESS_SERVICE} sees this machine, for workers its private address",
    )
    parser.add_argument(
        "--address-map",
        metavar="COMMAND",
        help="says where instances are: JSON list in, JSON object by id out; for rehearsals",
    )
    parser.add_argument("--hours", type=_more_than_0, help="of a repeat, for the estimate of the cost")
    if name != "plan":
        parser.add_argument(
            "--dry-run", action="store_true", help="print every step that would be taken, and take none"
        )
        parser.add_argument("--yes", action="store_true", help="do not ask whether to start")


def config_from(options: argparse.Namespace) -> Config:
    """The experiment. Raises INVALID_CONFIG, NO_DRIVER_ADDRESS."""
    images = tuple(tuple(entry.split("=", 1)) for entry in options.image)
    if any(len(entry) != 2 for entry in images):
        raise AwsError("INVALID_CONFIG", "--image: write REGION=AMI")
    has_workers = options.experiment in SESSIONS
    return Config(
        id=options.id,
        owner=options.owner,
        repository=options.repository or _git("remote", "get-url", "origin"),
        revision=options.revision or _git("rev-parse", "HEAD"),
        driver_cidr=options.driver_cidr or f"{_private_address() if has_workers else _own_address()}/32",
        experiment=options.experiment,
        emulate_arguments=options.emulate_arguments,
        sizes=options.sizes or ((1,) if has_workers else (32,)),
        repeats=options.repeats,
        regions=options.regions,
        instance_type=options.instance_type or ("t3.xlarge" if has_workers else "t3.small"),
        tracker_region=options.tracker_region,
        tracker_instance_type=options.tracker_instance_type,
        images=images,
        links=options.links,
        degree=options.degree,
        overlay=options.overlay,
    )


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _absolute(text: str) -> Path:
    """The driver and the command that it runs have different working directories."""
    return Path(text).absolute()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _more_than_0(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError("write a number above 0")
    return number


def _git(*arguments: str) -> str:
    ended = subprocess.run(
        ["git", *arguments], cwd=REPOSITORY_ROOT, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        raise AwsError(
            "INVALID_CONFIG",
            f"git {' '.join(arguments)}: {ended.stderr.strip()}; give --repository and --revision",
        )
    return ended.stdout.strip()


def _private_address() -> str:
    """That of the interface which leads to others; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError as error:
            raise AwsError("NO_DRIVER_ADDRESS", str(error)) from error
        address: str = probe.getsockname()[0]
        return address


def _own_address() -> str:
    try:
        with urllib.request.urlopen(AWS_ADDRESS_SERVICE, timeout=10) as reply:
            answer: bytes = reply.read(100)
            return answer.decode("ascii").strip()
    except (OSError, ValueError) as error:
        raise AwsError("NO_DRIVER_ADDRESS", str(error)) from error
