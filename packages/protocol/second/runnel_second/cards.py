"""Cards: with which public key others encrypt for a user."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import ProtocolError, Reader, checked, uint, varint
from .hpke import PUBLIC_KEY_BYTES
from .signatures import keccak256, recover, sign, time_text, typed_data_digest

_FIELDS = [
    ("string", "purpose"),
    ("address", "account"),
    ("string", "generation"),
    ("string", "date"),
    ("string", "key"),
]
_PURPOSE = "Let others encrypt for this account on the Runnel network. It moves no money."
_READING_FIELDS = [("string", "purpose"), ("string", "warning"), ("address", "account"), ("string", "generation")]
_READING_PURPOSE = (
    "Show this page or program what is encrypted for this account on the Runnel network. It moves no money."
)
_READING_WARNING = (
    "Whoever gets this signature can read everything that is encrypted for this account. "
    "Sign only where you trust the page or program."
)


@dataclass(frozen=True)
class Card:
    chain_id: int
    user: bytes
    generation: int
    date_ms: int
    block: int
    public_key: bytes
    signature: bytes = b""

    def claim(self) -> bytes:
        head = uint(1, 8) + varint(self.chain_id) + self.user + uint(self.generation, 32)
        return head + uint(self.date_ms, 48) + varint(self.block) + self.public_key

    def encode(self) -> bytes:
        length = checked(len(self.signature), 2048, "bytes of a card signature")
        return self.claim() + varint(length) + self.signature

    def hash(self) -> bytes:
        return keccak256(self.claim())

    def digest(self) -> bytes:
        """What the user signs."""
        said = {
            "purpose": _PURPOSE,
            "account": "0x" + self.user.hex(),
            "generation": str(self.generation),
            "date": time_text(self.date_ms, self.block),
            "key": "0x" + keccak256(self.public_key).hex(),
        }
        return typed_data_digest("Card", _FIELDS, self.chain_id, said)

    def is_signed_by_key(self) -> bool:
        """False says nothing where the user is a contract."""
        return recover(self.digest(), self.signature) == self.user


def decode_card(data: bytes) -> Card:
    reader = Reader(data)
    card = read_card(reader)
    reader.end()
    return card


def read_card(reader: Reader) -> Card:
    version = reader.uint(8)
    if version != 1:
        raise ProtocolError("UNSUPPORTED_VERSION", f"card version {version}")
    return Card(
        chain_id=reader.varint(),
        user=reader.fixed(20),
        generation=reader.uint(32),
        date_ms=reader.uint(48),
        block=reader.varint(),
        public_key=reader.fixed(PUBLIC_KEY_BYTES),
        signature=reader.fixed(reader.count(2048, "bytes of a card signature")),
    )


def reading_key_material(private_key: bytes, user: bytes, chain_id: int, generation: int) -> bytes:
    """r ‖ s of the signature from which a user's reading key comes."""
    said = {
        "purpose": _READING_PURPOSE,
        "warning": _READING_WARNING,
        "account": "0x" + user.hex(),
        "generation": str(generation),
    }
    return sign(private_key, typed_data_digest("ReadingKey", _READING_FIELDS, chain_id, said))[:64]
