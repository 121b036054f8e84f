"""Batches: their bytes, their signature, and how their contents are sealed and opened."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from .derivations import derive
from .encoding import ProtocolError, Reader, checked, malformed, short, uint, varint
from .signatures import keccak256, personal, recover, sign

SEALED_BATCH = 2
KEY_PARTITION = 100
_TAG = 16


@dataclass(frozen=True)
class Chain:
    stream_id: str
    partition: int
    publisher: bytes
    name: str

    def header(self) -> bytes:
        return uint(1, 8) + short(self.stream_id) + uint(self.partition, 8) + self.publisher + short(self.name)


@dataclass(frozen=True)
class Message:
    """`previous` is a place: timestamp and sequence number. `extensions` are their bytes, with their count."""

    timestamp: int
    sequence: int
    previous: tuple[int, int] | None
    content_type: int
    content: bytes
    encryption_type: int = 0
    group_key_id: str = ""
    extensions: bytes | None = None

    def envelope(self, content_bytes: int) -> bytes:
        """All that is before the content, with its length."""
        is_encrypted = self.encryption_type != 0
        flags = (self.previous is not None) | is_encrypted << 1 | (self.extensions is not None) << 2
        parts = [uint(flags, 8), _place(self.timestamp, self.sequence)]
        if self.previous is not None:
            parts.append(_place(*self.previous))
        parts.append(uint(self.content_type, 8))
        if is_encrypted:
            parts.append(uint(self.encryption_type, 8) + short(self.group_key_id))
        if self.extensions is not None:
            parts.append(self.extensions)
        return b"".join(parts) + varint(checked(content_bytes, 1_048_576, "bytes of content"))

    def encode(self) -> bytes:
        return self.envelope(len(self.content)) + self.content


@dataclass(frozen=True)
class Batch:
    chain: Chain
    messages: tuple[Message, ...]
    delegation: bytes | None
    signature: bytes

    def digest(self) -> bytes:
        header = keccak256(self.chain.header())
        root = _root([keccak256(b"\0", header, message.encode()) for message in self.messages])
        return personal(root if self.delegation is None else keccak256(b"\2", self.delegation, root))

    def signer(self) -> bytes | None:
        """The publisher, or its delegate where there is a delegation; None where there is no signature."""
        return recover(self.digest(), self.signature)

    def encode(self) -> bytes:
        messages = b"".join(message.encode() for message in self.messages)
        signer = uint(1, 8) if self.delegation is None else uint(2, 8) + self.delegation
        return self.chain.header() + uint(len(self.messages), 16) + messages + signer + self.signature


def sign_batch(chain: Chain, messages: tuple[Message, ...], private_key: bytes) -> Batch:
    batch = Batch(chain, messages, None, bytes(65))
    return replace(batch, signature=sign(private_key, batch.digest()))


def decode_batch(data: bytes) -> Batch:
    """Raises ProtocolError. The order and the times of messages are for whoever stores or forwards them to check."""
    reader = Reader(data)
    checked(len(data), 1_114_112, "bytes of a batch")
    _version(reader, 1, "batch version")
    chain = Chain(reader.short(243, "stream id"), reader.uint(8), reader.fixed(20), reader.short(32, "chain id"))
    count = checked(reader.uint(16), 256, "messages of a batch")
    if count == 0:
        raise malformed("a batch without messages")
    messages = tuple(_message(reader) for _ in range(count))
    delegation = reader.fixed(16) if _version(reader, 2, "signature type") == 2 else None
    batch = Batch(chain, messages, delegation, reader.fixed(65))
    reader.end()
    if batch.encode() != data:
        raise malformed("another encoding of a batch")
    return batch


def batch_key(publisher_key: bytes, chain: Chain) -> bytes:
    return derive(publisher_key, "batch", chain.header())


def seal(messages: tuple[Message, ...], chain: Chain, publisher_key: bytes, epoch_id: str) -> tuple[Message, ...]:
    plain = [uint(message.content_type, 8) + message.content for message in messages]
    outer = [
        replace(message, content_type=0, encryption_type=SEALED_BATCH, group_key_id=epoch_id) for message in messages
    ]
    lengths = [len(content) for content in plain]
    lengths[-1] += _TAG
    associated = b"".join(message.envelope(length) for message, length in zip(outer, lengths, strict=True))
    cipher = ChaCha20Poly1305(batch_key(publisher_key, chain))
    sealed = Reader(cipher.encrypt(_nonce(messages[0]), b"".join(plain), associated))
    return tuple(replace(message, content=sealed.fixed(length)) for message, length in zip(outer, lengths, strict=True))


def open_batch(batch: Batch, publisher_key: bytes) -> list[tuple[int, bytes]] | None:
    """The content type and content of each message; None where the batch does not open with this key."""
    messages = batch.messages
    epochs = {(message.encryption_type, message.group_key_id) for message in messages}
    if len(epochs) != 1 or messages[0].encryption_type != SEALED_BATCH:
        return None
    associated = b"".join(message.envelope(len(message.content)) for message in messages)
    sealed = b"".join(message.content for message in messages)
    cipher = ChaCha20Poly1305(batch_key(publisher_key, batch.chain))
    try:
        plain = Reader(cipher.decrypt(_nonce(messages[0]), sealed, associated))
    except (InvalidTag, ValueError):
        return None
    lengths = [len(message.content) for message in messages]
    lengths[-1] -= _TAG
    if min(lengths) < 1:
        return None
    return [(plain.uint(8), plain.fixed(length - 1)) for length in lengths]


def _message(reader: Reader) -> Message:
    flags = reader.uint(8)
    if flags > 7:
        raise malformed(f"message flags {flags}")
    timestamp, sequence = _read_place(reader)
    previous = _read_place(reader) if flags & 1 else None
    content_type = reader.uint(8)
    encryption_type, group_key_id = 0, ""
    if flags & 2:
        encryption_type, group_key_id = reader.uint(8), reader.short(64, "group key id")
    extensions = _extensions(reader) if flags & 4 else None
    content = reader.fixed(reader.count(1_048_576, "bytes of content"))
    return Message(timestamp, sequence, previous, content_type, content, encryption_type, group_key_id, extensions)


def _extensions(reader: Reader) -> bytes:
    start = reader.at
    types = []
    for _ in range(reader.count(16, "extensions")):
        types.append(reader.varint((1 << 32) - 1))
        reader.fixed(reader.count(1024, "bytes of extensions"))
    if not types or types != sorted(set(types)):
        raise malformed("extensions out of order")
    return reader.data[start : reader.at]


def _version(reader: Reader, newest: int, what: str) -> int:
    version = reader.uint(8)
    if not 1 <= version <= newest:
        raise ProtocolError("UNSUPPORTED_VERSION", f"{what} {version}")
    return version


def _place(timestamp: int, sequence: int) -> bytes:
    return uint(timestamp, 48) + varint(sequence)


def _read_place(reader: Reader) -> tuple[int, int]:
    return reader.uint(48), reader.varint((1 << 32) - 1)


def _nonce(first: Message) -> bytes:
    return uint(first.timestamp, 48) + uint(first.sequence, 32) + bytes(2)


def _root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1."""
    if len(leaves) == 1:
        return leaves[0]
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return keccak256(b"\1", _root(leaves[:left]), _root(leaves[left:]))
