"""How an opener opens an epoch for a few readers, and seals in it: "How an opener opens an epoch"."""

from __future__ import annotations

import os
import time

from . import derivations as d
from .batches import KEY_PARTITION, Batch, Chain, Message, seal, sign_batch
from .cards import Card
from .hpke import seal as seal_to
from .records import LinkSecret, Record, encode_record
from .signatures import address_of


class Opener:
    """One epoch of a publisher that opens for itself. Its chain goes on from message to message."""

    def __init__(self, private_key: bytes, ring: bytes, stream_id: str) -> None:
        self._private_key = private_key
        self._user = address_of(private_key)
        self._ring = ring
        self._stream_id = stream_id
        self._epoch_key = os.urandom(32)
        self._chain = Chain(stream_id, 0, self._user, os.urandom(10).hex())
        self._previous: tuple[int, int] | None = None

    def records(self, cards: list[Card]) -> list[Batch]:
        """All that leads the owners of these cards to the epoch, in order."""
        ring_id, committed, now_ms = d.keyring_id(self._ring), d.commitment(self._epoch_key), _now_ms()
        others = [card for card in cards if card.user != self._user]
        named = {"keyringId": ring_id, "commitment": committed}
        epoch: Record = {
            **{"kind": "epoch", **named, "createdMs": now_ms, "readersAtBlock": 0},
            **{"own": d.wrap(self._ring, "own epoch", committed, self._epoch_key)},
            **{"readers": [self._wrapped(card, committed) for card in others], "cohorts": []},
            **{"publisherRecords": 0, "earlier": []},
        }
        records = [(d.epoch_chain(d.epoch_id(committed)), epoch), (d.NEWEST_CHAIN, {"kind": "newest", **named})]
        links = [self._link(card, d.link_chain(ring_id, card.user), committed) for card in others]
        return [record_batch(self._private_key, self._stream_id, *one) for one in [*records, *links]]

    def seal(self, content_type: int, content: bytes) -> Batch:
        """The next message."""
        time_ms, sequence = self._previous or (0, 0)
        now_ms = max(_now_ms(), time_ms)
        place = (now_ms, sequence + 1 if now_ms == time_ms else 0)
        message = Message(*place, self._previous, content_type, content)
        self._previous = place
        key = d.publisher_key(self._epoch_key, self._user)
        sealed = seal((message,), self._chain, key, d.epoch_id(d.commitment(self._epoch_key)))
        return sign_batch(self._chain, sealed, self._private_key)

    def _wrapped(self, card: Card, committed: bytes) -> Record:
        secret = d.link_secret(self._ring, card.user, card.hash())
        wrapped = d.wrap(secret, "wrapped epoch", committed, self._epoch_key)
        return {"tag": d.tag(card.user, card.hash()), "wrapped": wrapped}

    def _link(self, card: Card, chain: str, committed: bytes) -> tuple[str, Record]:
        secret, tag = d.link_secret(self._ring, card.user, card.hash()), d.tag(card.user, card.hash())
        plaintext = LinkSecret(secret, committed[:6], self._epoch_key, True).encode()
        info = d.link_info(self._user, card.user, tag, chain, self._stream_id)
        encapsulated, sealed = seal_to(card.public_key, info, plaintext)
        to = {"hint": d.hint(card.user), "tag": tag}
        return chain, {"kind": "link", **to, "encapsulated": encapsulated, "sealed": sealed}


def record_batch(private_key: bytes, stream_id: str, chain: str, record: Record) -> Batch:
    """A record as its user publishes it now."""
    of = Chain(stream_id, KEY_PARTITION, address_of(private_key), chain)
    sequence = int.from_bytes(os.urandom(4), "big")
    return sign_batch(of, (Message(_now_ms(), sequence, None, 0, encode_record(record)),), private_key)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
