"""What can go wrong, each with a code that stays: what happened, what to do, and the exit code (sysexits.h)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """What a code means to people."""

    summary: str
    remedy: str
    exit_code: int = 1


ERRORS: dict[str, ErrorEntry] = {
    "USAGE": ErrorEntry("Wrong command line", "See: python3 -m runnel_aws --help.", 64),
    "INVALID_CONFIG": ErrorEntry("The experiment is described wrongly", "Correct the option named.", 78),
    "CONFIG_CHANGED": ErrorEntry(
        "The experiment in this directory was begun with other options",
        "Give the same options, or another --id and --out; teardown ends the one begun.",
        78,
    ),
    "STATE_INVALID": ErrorEntry(
        "The state file cannot be read",
        "Take another --out; teardown --id finds by its tags whatever the experiment started.",
        65,
    ),
    "ALREADY_RUNNING": ErrorEntry(
        "Another driver, or an experiment that one began, runs in this directory",
        "Wait until it has ended, or end it; then run the same command again.",
    ),
    "ADDRESS_MAP_REQUIRED": ErrorEntry(
        "An emulated AWS invents public addresses, which belong to others",
        "Give --address-map COMMAND, which says where the instances really are.",
        78,
    ),
    "ADDRESS_MAP_FAILED": ErrorEntry(
        "The command of --address-map failed", "Run it by hand with the instances as JSON on its input."
    ),
    "NO_CREDENTIALS": ErrorEntry(
        "No credentials for AWS",
        "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; aws/iam-policy.json has the rights needed.",
        77,
    ),
    "AWS_REFUSED": ErrorEntry(
        "AWS refused a call", "Compare the rights of the account with aws/iam-policy.json, and its quotas."
    ),
    "AWS_UNREACHABLE": ErrorEntry("AWS cannot be reached", "Check the network, and --endpoint-url.", 69),
    "NO_IMAGE": ErrorEntry("The region has no image of Debian 12", "Name one: --image REGION=ami-…", 69),
    "NO_SUBNET": ErrorEntry(
        "The region has no default subnet with machines of this type",
        "Make its default VPC again (aws ec2 create-default-vpc), or leave the region out of --regions.",
        69,
    ),
    "NO_DRIVER_ADDRESS": ErrorEntry(
        "The public address of this machine could not be found", "Give it: --driver-cidr 203.0.113.7/32", 69
    ),
    "NOT_CONFIRMED": ErrorEntry("Nothing was started", "Confirm with yes, or give --yes."),
    "REGION_FAILED": ErrorEntry(
        "Regions did not do what they were asked for",
        "If one cannot start so many machines: ask for a higher quota, leave the region out or take fewer nodes.",
    ),
    "TRACKER_UNREACHABLE": ErrorEntry(
        "The control API of the tracker does not answer",
        "Look at its log: aws ec2 get-console-output --latest --instance-id ID. Has the address of this machine changed? setup opens the control port to the new one.",
        69,
    ),
    "TRACKER_NOT_RESTARTED": ErrorEntry(
        "The tracker was stopped and did not come back", "Look at its log: aws ec2 get-console-output.", 69
    ),
    "NODES_UNREACHABLE": ErrorEntry(
        "The control API of nodes does not answer",
        "Look at the log of one: aws ec2 get-console-output --latest --instance-id ID; then run the same command again.",
        69,
    ),
    "WORKERS_UNREACHABLE": ErrorEntry(
        "Bench workers do not answer",
        "Is this machine in their VPC? Look at the log of one: aws ec2 get-console-output --latest --instance-id ID; then run the same command again.",
        69,
    ),
    "EXPERIMENT_FAILED": ErrorEntry(
        "The experiment did not complete",
        "Its output says why. The machines still run: the same command goes on where it was.",
    ),
    "STILL_RUNNING": ErrorEntry(
        "Machines still run that were told to end", "Run teardown, or look into the AWS console."
    ),
    "LEFTOVERS": ErrorEntry("Something could not be deleted", "Run teardown again in a few minutes."),
}


class AwsError(Exception):
    """An error with a code of `ERRORS` and what it was about."""

    def __init__(self, code: str, detail: str = "") -> None:
        entry = ERRORS[code]
        super().__init__(f"{entry.summary}: {detail}" if detail else entry.summary)
        self.code = code
        self.remedy = entry.remedy
        self.exit_code = entry.exit_code
        self.all_ended = False
        """Of the machines of nodes or workers that had been started, none is left."""


def error_line(error: AwsError) -> str:
    """`what (CODE). how to fix`, one line, as the other commands of Runnel print it."""
    what = " ".join(str(error).split()).rstrip(".")
    return f"{what} ({error.code}). {error.remedy}"
