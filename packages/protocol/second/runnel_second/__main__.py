"""What a shell can ask of this implementation: `python -m runnel_second --help`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import derivations as d
from .batches import SEALED_BATCH, Batch, decode_batch, open_batch
from .cards import reading_key_material
from .encoding import ProtocolError
from .key_part import KeyFinder, KeyPart
from .member import Member
from .node import Contact
from .records import decode_record
from .signatures import address_of
from .vectors import Checks, check_cards, check_delegations, check_encryption, check_standards, make, shown


def main() -> int:
    parser = argparse.ArgumentParser(prog="runnel_second", description="The encryption of Runnel in Python.")
    commands = parser.add_subparsers(required=True)
    reading = commands.add_parser("records", help="read records of a key part, a line each in hex; print what they say")
    reading.set_defaults(run=records)
    opening = commands.add_parser(
        "open", help="read batches, a line each in hex, of a key part and of messages; print what a user can open"
    )
    opening.add_argument("--private-key-file", type=Path, required=True, help="hex; the user's")
    opening.add_argument("--chain-id", type=int, required=True, help="of the network's registries; 0: none")
    opening.add_argument("--generation", type=int, default=0, help="of the user's card; default: 0")
    opening.add_argument("--stream", required=True, help="the stream id")
    opening.add_argument("--holder", help="the stream's key holder, an address")
    opening.set_defaults(run=open_batches)
    joining = commands.add_parser("join", help="join a stream as a node; lines of JSON say what to read and to publish")
    joining.set_defaults(run=join)
    joining.add_argument("--private-key-file", type=Path, required=True, help="hex; the user's, and the node's")
    joining.add_argument("--chain-id", type=int, required=True, help="of the network's registries; 0: none")
    joining.add_argument("--stream", required=True, help="the stream id")
    joining.add_argument("--tracker", required=True, help="its id, @, its URL")
    for name, run, text in (
        ("check", check, "compare with the vectors in a directory"),
        ("make", make_anew, "print records and batches made anew for the users of the vectors"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("vectors", type=Path)
        command.set_defaults(run=run)
    arguments = parser.parse_args()
    return int(arguments.run(arguments))


def records(_: argparse.Namespace) -> int:
    """Each line by itself: what cannot be read has an error with a code."""
    for data in _lines():
        try:
            _print(shown(decode_record(data)))
        except ProtocolError as error:
            _print({"error": error.code, "message": str(error)})
    return 0


def open_batches(arguments: argparse.Namespace) -> int:
    key = _private_key(arguments)
    user, part = address_of(key), KeyPart(arguments.stream)
    reading = [
        d.reading_key(reading_key_material(key, user, arguments.chain_id, generation), user, generation)
        for generation in range(arguments.generation, -1, -1)
    ]
    cards, ring = [d.card_private_key(one) for one in reading], d.keyring(reading[0], arguments.stream)
    finder = KeyFinder(user, cards, ring, part)
    holder = bytes.fromhex(arguments.holder[2:]) if arguments.holder else None
    batches = [decode_batch(data) for data in _lines()]
    for batch in batches:
        # Who may act for the publisher by a delegation is not for this program to say.
        if batch.delegation is not None or batch.signer() == batch.chain.publisher:
            part.add(batch)
    for batch in batches:
        if batch.messages[0].encryption_type == SEALED_BATCH:
            _print(_opened(batch, finder, holder))
    return 0


def join(arguments: argparse.Namespace) -> int:
    node, url = arguments.tracker.split("@")
    member = Member(_private_key(arguments), arguments.stream, arguments.chain_id)
    member.run(Contact(bytes.fromhex(node[2:]), url))
    return 0


def _private_key(arguments: argparse.Namespace) -> bytes:
    return bytes.fromhex(arguments.private_key_file.read_text().strip().removeprefix("0x"))


def _opened(batch: Batch, finder: KeyFinder, holder: bytes | None) -> Any:
    publisher, epoch_id = batch.chain.publisher, batch.messages[0].group_key_id
    said = {"publisherId": "0x" + publisher.hex(), "chain": batch.chain.name, "epochId": epoch_id}
    keys = finder.publisher_keys(publisher, epoch_id, holder)
    for contents in filter(None, (open_batch(batch, key) for key in keys)):
        return {**said, "messages": [shown({"contentType": kind, "content": content}) for kind, content in contents]}
    return {**said, "error": "KEY_NOT_FOUND" if not keys else "CONTENT_NOT_AUTHENTIC"}


def check(arguments: argparse.Namespace) -> int:
    checks = Checks()
    for name, run in (
        ("standards", check_standards),
        ("cards", check_cards),
        ("delegations", check_delegations),
        ("encryption", check_encryption),
    ):
        run(checks, json.loads((arguments.vectors / f"{name}.json").read_text()))
    _print({"passed": checks.passed, "failures": checks.failures})
    return 1 if checks.failures else 0


def make_anew(arguments: argparse.Namespace) -> int:
    _print(make(json.loads((arguments.vectors / "encryption.json").read_text())))
    return 0


def _lines() -> Iterator[bytes]:
    return (bytes.fromhex(line) for line in map(str.strip, sys.stdin) if line)


def _print(value: Any) -> None:
    print(json.dumps(value), flush=True)


sys.exit(main())
