"""Keys, and what is hashed: "Primitives of encryption", "Keys of a user", "Epochs", and the chain ids of "Key part"."""

from __future__ import annotations

import hashlib
import hmac

from .encoding import base64url, uint


def hkdf_extract(salt: bytes, key: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), key, "sha256")


def hkdf_expand(prk: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869, for up to 32 bytes: one block."""
    return hmac.digest(prk, info + b"\x01", "sha256")[:length]


def derive(key: bytes, use: str, context: bytes = b"") -> bytes:
    return hkdf_expand(hkdf_extract(b"", key), f"runnel {use}\0".encode("ascii") + context, 32)


def digest(use: str, *parts: bytes) -> bytes:
    return hashlib.sha256(f"runnel {use}\0".encode("ascii") + b"".join(parts)).digest()


def wrap(under: bytes, use: str, context: bytes, key: bytes) -> bytes:
    """Wraps a key, or unwraps it."""
    return bytes(a ^ b for a, b in zip(derive(under, use, context), key, strict=True))


# Keys of a user. Ids of users are their 20 bytes.


def reading_key(material: bytes, user: bytes, generation: int) -> bytes:
    return derive(material, "reading key", user + uint(generation, 32))


def card_private_key(reading: bytes) -> bytes:
    return derive(reading, "card")


def keyring(reading: bytes, stream_id: str) -> bytes:
    return derive(reading, "keyring", stream_id.encode("ascii"))


def keyring_id(ring: bytes) -> bytes:
    return derive(ring, "keyring id")[:16]


def link_secret(ring: bytes, reader: bytes, card_hash: bytes) -> bytes:
    return derive(ring, "link", reader + card_hash)


# Epochs.


def commitment(epoch_key: bytes) -> bytes:
    return digest("epoch", epoch_key)


def epoch_id(committed: bytes) -> str:
    return base64url(committed[:6])


def publisher_key(epoch_key: bytes, publisher: bytes) -> bytes:
    return derive(epoch_key, "publisher", publisher)


# Chain ids, and how users are told apart in records.


def cohort_id(cohort_key: bytes) -> bytes:
    return digest("cohort", cohort_key)[:8]


def tag(user: bytes, card_hash: bytes) -> bytes:
    return digest("tag of", user, card_hash)[:4]


def hint(reader: bytes) -> bytes:
    return digest("link to", reader)[:4]


def publisher_tag(publisher: bytes, key: bytes) -> bytes:
    return digest("tag of key", publisher, key)[:4]


def group(user: bytes, count: int) -> int:
    return int.from_bytes(digest("group of", user)[:2], "big") * count // 65_536


def link_chain(ring_id: bytes, reader: bytes) -> str:
    return "l" + base64url(digest("link of", ring_id, reader)[:12])


def answer_chain(reader: bytes) -> str:
    return "a" + base64url(digest("answer to", reader)[:16])


def epoch_chain(id_of_epoch: str) -> str:
    return "e" + id_of_epoch


def cohort_chain(id_of_cohort: bytes) -> str:
    return "c" + base64url(id_of_cohort)


def publishers_chain(committed: bytes, number: int) -> str:
    return f"w{epoch_id(committed)}{number:04x}"


NEWEST_CHAIN = "n"
REQUEST_CHAIN = "r"


# What HPKE binds a seal to.


def link_info(opener: bytes, reader: bytes, tag_of_reader: bytes, chain: str, stream_id: str) -> bytes:
    return b"runnel link\0" + opener + reader + tag_of_reader + (chain + stream_id).encode("ascii")


def answer_info(reader: bytes, card_hash: bytes, stream_id: str) -> bytes:
    return b"runnel answer\0" + reader + card_hash + stream_id.encode("ascii")
