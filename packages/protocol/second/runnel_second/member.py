"""A user in an encrypted stream, as a node of the network: reads what is there and what comes, asks for keys, and publishes."""

from __future__ import annotations

import base64
import json
import queue
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import derivations as d
from .batches import KEY_PARTITION, SEALED_BATCH, Batch, open_batch
from .cards import Card, reading_key_material
from .hpke import public_key
from .key_part import KeyFinder, KeyPart
from .node import Contact, Node
from .opener import Opener, record_batch
from .records import Record
from .signatures import address_of, sign

_NEWEST = 100


@dataclass
class StoredKeyPart(KeyPart):
    """What floods, and what a storage node has."""

    node: Node | None = None
    storage: bytes = b""

    def find(self, publisher: bytes, chain: str, kind: str) -> Record | None:
        found = super().find(publisher, chain, kind)
        if self.node is None or (found is not None and kind != "newest"):
            return found
        for batch in self.node.last(self.storage, KEY_PARTITION, 1, (publisher, chain)):
            self.add(batch)
        return super().find(publisher, chain, kind)

    def answers(self, reader: bytes) -> Iterable[Record]:
        """Among the newest records of all, too."""
        if self.node is not None:
            for batch in self.node.last(self.storage, KEY_PARTITION, _NEWEST):
                self.add(batch)
        return super().answers(reader)


class Member:
    """Takes lines of JSON: `{"last": 10}` opens what is stored, `{"publish": …, "readers": […]}` publishes a value for these users."""

    def __init__(self, private_key: bytes, stream_id: str, chain_id: int) -> None:
        self._private_key = private_key
        self._stream_id = stream_id
        self._events: queue.Queue[Batch | Any] = queue.Queue()
        self._node = Node(private_key, stream_id, chain_id, self._events.put)
        self._user = address_of(private_key)
        material = reading_key_material(private_key, self._user, chain_id, 0)
        reading = d.reading_key(material, self._user, 0)
        card_key = d.card_private_key(reading)
        self._ring = d.keyring(reading, stream_id)
        card = Card(chain_id, self._user, 0, time.time_ns() // 1_000_000, 0, public_key(card_key))
        self._card = Card(**{**vars(card), "signature": sign(private_key, card.digest())})
        self._part = StoredKeyPart(stream_id, node=self._node)
        self._finder = KeyFinder(self._user, [card_key], self._ring, self._part)
        self._opener: Opener | None = None
        self._unopened: list[Batch] = []
        self._taken: set[bytes] = set()

    def run(self, tracker: Contact) -> None:
        """Until there are no more lines."""
        self._node.connect(tracker)
        [self._part.storage, *_] = self._node.storage_nodes()
        self._node.keep_card(self._part.storage, self._card)
        for partition in (KEY_PARTITION, 0):
            self._node.join(partition)
        _say({"user": "0x" + self._user.hex()})
        threading.Thread(target=self._read_lines, daemon=True).start()
        while (event := self._events.get()) is not None:
            if isinstance(event, Batch):
                self._received(event)
            elif "last" in event:
                for batch in self._node.last(self._part.storage, 0, event["last"]):
                    self._received(batch)
            else:
                self._publish(event["publish"], event["readers"])
        self._node.close()

    def _read_lines(self) -> None:
        for line in sys.stdin:
            self._events.put(json.loads(line))
        self._events.put(None)

    def _received(self, batch: Batch) -> None:
        if batch.chain.partition == KEY_PARTITION:
            if self._part.add(batch) is not None:
                self._open()
        elif batch.messages[0].encryption_type == SEALED_BATCH and batch.digest() not in self._taken:
            self._taken.add(batch.digest())
            self._unopened.append(batch)
            self._open()
            if batch in self._unopened:
                self._request(batch.messages[0].group_key_id)

    def _open(self) -> None:
        """All for which there is a key now, in the order in which they came."""
        self._unopened = [batch for batch in self._unopened if not self._is_opened(batch)]

    def _is_opened(self, batch: Batch) -> bool:
        publisher = batch.chain.publisher
        keys = self._finder.publisher_keys(publisher, batch.messages[0].group_key_id)
        for contents in filter(None, (open_batch(batch, key) for key in keys)):
            for content_type, content in contents:
                opened = {"contentType": content_type, "content": content.decode()}
                _say({"publisherId": "0x" + publisher.hex(), **opened})
            return True
        return False

    def _request(self, epoch_id: str) -> None:
        wanted = [base64.urlsafe_b64decode(epoch_id)]
        record: Record = {"kind": "request", "card": self._card.encode(), "wanted": wanted}
        self._node.publish(record_batch(self._private_key, self._stream_id, d.REQUEST_CHAIN, record))
        _say({"wanted": epoch_id})

    def _publish(self, value: Any, readers: list[str]) -> None:
        if self._opener is None:
            self._opener = Opener(self._private_key, self._ring, self._stream_id)
            users = [bytes.fromhex(reader[2:]) for reader in readers]
            for batch in self._opener.records(self._node.cards(self._part.storage, users)):
                self._node.publish(batch)
        self._node.publish(self._opener.seal(1, json.dumps(value).encode()))


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)
