"""Records of a key part: their bytes, and as dictionaries whose names are those of the vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .encoding import ProtocolError, Reader, checked, malformed, uint, varint

Record = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """How one field of a record is read and written."""

    read: Callable[[Reader], Any]
    write: Callable[[Any], bytes]


def _fixed(length: int) -> Field:
    def write(value: bytes) -> bytes:
        if len(value) != length:
            raise malformed(f"{len(value)} bytes instead of {length}")
        return value

    return Field(lambda reader: reader.fixed(length), write)


def _bytes(limit: int, what: str) -> Field:
    return Field(
        lambda reader: reader.fixed(reader.count(limit, what)),
        lambda value: varint(checked(len(value), limit, what)) + value,
    )


def _list(limit: int, what: str, item: Field) -> Field:
    def write(values: list[Any]) -> bytes:
        return varint(checked(len(values), limit, what)) + b"".join(map(item.write, values))

    return Field(lambda reader: reader.items(limit, what, item.read), write)


def _struct(fields: dict[str, Field]) -> Field:
    return Field(
        lambda reader: {name: field.read(reader) for name, field in fields.items()},
        lambda value: b"".join(field.write(value[name]) for name, field in fields.items()),
    )


def _cohorts(field: Field) -> Field:
    """None, or a power of two from 2 on."""

    def checked_count(values: list[Any]) -> list[Any]:
        if len(values) == 1 or len(values) & (len(values) - 1):
            raise malformed(f"{len(values)} cohorts")
        return values

    return Field(lambda reader: checked_count(field.read(reader)), lambda value: field.write(checked_count(value)))


def _varint(limit: int) -> Field:
    return Field(lambda reader: reader.varint(limit), varint)


_U48 = Field(lambda reader: reader.uint(48), lambda value: uint(value, 48))
_ID = Field(lambda reader: "0x" + reader.fixed(20).hex(), lambda value: bytes.fromhex(value[2:]))
_KEY = _fixed(32)
_WRAPPED = _list(1024, "wrapped keys", _struct({"tag": _fixed(4), "wrapped": _KEY}))
_SEALED = {
    "encapsulated": _fixed(1120),
    "sealed": _bytes(4096, "bytes of sealed keys"),
}
_RING = {"keyringId": _fixed(16)}
_NAMED = {**_RING, "commitment": _fixed(32)}

KINDS = ["link", "epoch", "cohort", "publishers", "newest", "request", "answer"]
_BODIES = {
    "link": _struct({"hint": _fixed(4), "tag": _fixed(4), **_SEALED}),
    "epoch": _struct(
        {
            **_NAMED,
            "createdMs": _U48,
            "readersAtBlock": _U48,
            "own": _KEY,
            "readers": _WRAPPED,
            "cohorts": _cohorts(_list(4096, "cohorts", _struct({"cohortId": _fixed(8), "wrapped": _KEY}))),
            "publisherRecords": _varint(1024),
            "earlier": _list(16, "earlier epochs", _struct({"id": _fixed(6), "wrapped": _KEY})),
        }
    ),
    "cohort": _struct({**_RING, "readers": _WRAPPED}),
    "publishers": _struct({**_NAMED, "publishers": _WRAPPED}),
    "newest": _struct(_NAMED),
    "request": _struct({"card": _bytes(4096, "bytes of a card"), "wanted": _list(64, "wanted epochs", _fixed(6))}),
    "answer": _struct({"readerId": _ID, "cardHash": _fixed(32), **_SEALED}),
}


def encode_record(record: Record) -> bytes:
    kind = record["kind"]
    return uint(KINDS.index(kind) + 1, 8) + _BODIES[kind].write(record)


def decode_record(data: bytes) -> Record:
    """Raises ProtocolError: UNSUPPORTED_VERSION for a kind of a later version."""
    reader = Reader(data)
    code = reader.uint(8)
    if not 1 <= code <= len(KINDS):
        raise ProtocolError("UNSUPPORTED_VERSION", f"key record {code}")
    kind = KINDS[code - 1]
    record = {"kind": kind, **_BODIES[kind].read(reader)}
    reader.end()
    return record


@dataclass(frozen=True)
class LinkSecret:
    """What a link seals."""

    secret: bytes
    epoch_id: bytes
    key: bytes | None
    is_for_reader: bool

    def encode(self) -> bytes:
        return uint(1 if self.is_for_reader else 2, 8) + self.secret + self.epoch_id + (self.key or b"")


def decode_link_secret(plaintext: bytes) -> LinkSecret | None:
    if len(plaintext) not in (39, 71) or plaintext[0] not in (1, 2):
        return None
    return LinkSecret(plaintext[1:33], plaintext[33:39], plaintext[39:] or None, plaintext[0] == 1)
