"""Primitives of the wire: unsigned numbers, bytes, text and lists. There is one encoding of each value."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TypeVar

Item = TypeVar("Item")


class ProtocolError(Exception):
    """Bytes that must be refused, with the code of the page."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(f"{what} ({code})")
        self.code = code


def malformed(what: str) -> ProtocolError:
    return ProtocolError("MALFORMED_PACKET", what)


def checked(value: int, limit: int, what: str) -> int:
    if value > limit:
        raise ProtocolError("LIMIT_EXCEEDED", f"{value} {what}, at most {limit}")
    return value


def uint(value: int, bits: int) -> bytes:
    if not 0 <= value < 1 << bits:
        raise malformed(f"{value} is no u{bits}")
    return value.to_bytes(bits // 8, "big")


def varint(value: int) -> bytes:
    if not 0 <= value < 1 << 53:
        raise malformed(f"{value} is no varint")
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def short(text: str) -> bytes:
    """A u8 length and printable ASCII."""
    encoded = text.encode("ascii")
    return uint(len(encoded), 8) + encoded


def ascii_text(text: str) -> bytes:
    """A varint length and printable ASCII."""
    return varint(len(text)) + text.encode("ascii")


def utf8(text: str) -> bytes:
    """A varint length and UTF-8."""
    encoded = text.encode("utf-8")
    return varint(len(encoded)) + encoded


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


class Reader:
    """Takes bytes apart from the front. Raises ProtocolError where they are not what they should be."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def fixed(self, length: int) -> bytes:
        end = self.at + length
        if end > len(self.data):
            raise malformed("bytes are missing")
        taken, self.at = self.data[self.at : end], end
        return taken

    def uint(self, bits: int) -> int:
        return int.from_bytes(self.fixed(bits // 8), "big")

    def varint(self, limit: int = (1 << 53) - 1) -> int:
        value = 0
        for shift in range(0, 56, 7):
            byte = self.uint(8)
            value |= (byte & 127) << shift
            if byte < 128:
                if byte == 0 and shift > 0:
                    raise malformed("a varint with a byte too many")
                break
        else:
            raise malformed("a varint that is too long")
        if value > limit:
            raise malformed(f"{value}, at most {limit}")
        return value

    def count(self, limit: int, what: str) -> int:
        return checked(self.varint(), limit, what)

    def items(self, limit: int, what: str, read: Callable[[Reader], Item]) -> list[Item]:
        return [read(self) for _ in range(self.count(limit, what))]

    def short(self, limit: int, what: str) -> str:
        return self._ascii(checked(self.uint(8), limit, what), what)

    def ascii(self, limit: int, what: str) -> str:
        return self._ascii(self.count(limit, what), what)

    def utf8(self, limit: int, what: str) -> str:
        try:
            return self.fixed(self.count(limit, what)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise malformed(f"a {what} that is not UTF-8") from error

    def _ascii(self, length: int, what: str) -> str:
        text = self.fixed(length)
        if any(not 0x20 <= byte <= 0x7E for byte in text):
            raise malformed(f"a {what} that is not printable ASCII")
        return text.decode("ascii")

    def end(self) -> None:
        if self.at < len(self.data):
            raise malformed("bytes are left over")
