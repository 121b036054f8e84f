"""Delegations: which other key may act for a user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .batches import KEY_PARTITION, Batch
from .encoding import Reader, checked, malformed
from .signatures import keccak256, recover, time_text, typed_data_digest

_FIELDS = [
    ("string", "purpose"),
    ("address", "account"),
    ("address", "delegate"),
    ("string", "may"),
    ("string", "streams"),
    ("string", "askedBy"),
    ("string", "from"),
    ("string", "until"),
]
_PURPOSE = "Let the key of a page or program act for this account on the Runnel network. It moves no money."
_RIGHTS = {1: "publish", 2: "read", 3: "publish and read"}
_PUBLISH = 1
_MAX_BYTES = 3072


@dataclass(frozen=True)
class Delegation:
    """`data` is what it came in."""

    chain_id: int
    user: bytes
    delegate: bytes
    from_ms: int
    until_ms: int
    rights: int
    streams: Sequence[str]
    requester: str
    block: int
    signature: bytes
    data: bytes

    def reference(self) -> bytes:
        return keccak256(self.data)[:16]

    def digest(self) -> bytes:
        """What the user signs."""
        said = {
            "purpose": _PURPOSE,
            "account": "0x" + self.user.hex(),
            "delegate": "0x" + self.delegate.hex(),
            "may": _RIGHTS[self.rights],
            "streams": ", ".join(self.streams) or "all streams",
            "askedBy": self.requester,
            "from": time_text(self.from_ms, self.block),
            "until": time_text(self.until_ms),
        }
        return typed_data_digest("Delegation", _FIELDS, self.chain_id, said)

    def is_signed_by_key(self) -> bool:
        """False says nothing where the user is a contract."""
        return recover(self.digest(), self.signature) == self.user

    def allows(self, batch: Batch) -> bool:
        """Whether its delegate may sign this batch for the user. In a key part, whoever may read publishes, too."""
        chain, times = batch.chain, [message.timestamp for message in batch.messages]
        may = self.rights & _PUBLISH or chain.partition == KEY_PARTITION
        is_for = not self.streams or chain.stream_id in self.streams
        in_time = self.from_ms <= min(times) and max(times) < self.until_ms
        return bool(may) and is_for and in_time and self.user == chain.publisher


def read_delegation(reader: Reader) -> Delegation:
    """Raises ProtocolError."""
    start = reader.at
    if reader.uint(8) != 1:
        raise malformed("a delegation of a later version")
    chain_id, user, delegate = reader.varint(), reader.fixed(20), reader.fixed(20)
    from_ms, until_ms, rights = reader.uint(48), reader.uint(48), reader.uint(8)
    if rights not in _RIGHTS:
        raise malformed(f"rights {rights}")
    streams = reader.items(8, "streams", lambda item: item.ascii(243, "stream id"))
    requester, block = reader.ascii(128, "requester"), reader.varint()
    signature = reader.fixed(reader.count(2048, "bytes of a delegation signature"))
    data = reader.data[start : reader.at]
    checked(len(data), _MAX_BYTES, "bytes of a delegation")
    names = (user, delegate, from_ms, until_ms, rights, streams, requester, block)
    return Delegation(chain_id, *names, signature, data)


class Delegations:
    """Those that are known, by their references."""

    def __init__(self, chain_id: int) -> None:
        self._chain_id = chain_id
        self._known: dict[bytes, Delegation] = {}

    def add(self, delegation: Delegation) -> bool:
        """False for one that its user did not sign, or for another network."""
        is_good = delegation.chain_id == self._chain_id and delegation.is_signed_by_key()
        if is_good:
            self._known[delegation.reference()] = delegation
        return is_good

    def is_authentic(self, batch: Batch) -> bool:
        """Whether its publisher signed it, or a delegate of the publisher."""
        signer = batch.signer()
        if batch.delegation is None:
            return signer == batch.chain.publisher
        delegation = self._known.get(batch.delegation)
        return delegation is not None and delegation.delegate == signer and delegation.allows(batch)
