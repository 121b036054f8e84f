"""A node: joins partitions of one stream through a tracker, floods, and asks storage nodes."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .batches import KEY_PARTITION, Batch, decode_batch
from .cards import Card, read_card
from .delegations import Delegations, read_delegation
from .encoding import ProtocolError, Reader, ascii_text, short, uint, varint
from .links import Link, Packet, dial
from .signatures import address_of

DATA, ATTACH, DETACH, FETCH, FETCHED = range(0x10, 0x15)
DELEGATION, ASK_DELEGATION = 0x1A, 0x1B
NODE_INFO, STATUS, INSTRUCTION = 0x20, 0x21, 0x23
FIND_STORAGE, STORAGE_NODES = 0x28, 0x29
RESEND, RESEND_DATA, RESEND_END = 0x30, 0x32, 0x34
STORED, KEEP_CARD, ASK_CARDS, CARDS = 0x37, 0x38, 0x39, 0x3A
_REPLACED = 1
_WINDOW_BYTES = 16 * 1024 * 1024
_SECONDS = 20.0
_NO_TOKEN = uint(0, 8)
_READS = uint(0, 8) + _NO_TOKEN


@dataclass(frozen=True)
class Contact:
    """Where a node can be dialled by a WebSocket; None: nowhere."""

    node: bytes
    url: str | None


@dataclass
class _Part:
    """One partition: the newest instruction, who is attached, and what was published."""

    joined_s: float = field(default_factory=time.monotonic)
    counter: int = 0
    sent: set[bytes] = field(default_factory=set)
    attached: set[bytes] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)
    published: list[Batch] = field(default_factory=list)


class Node:
    """Each link has a thread that takes its packets, one at a time of all. `on_batch` gets each authentic batch that floods, once."""

    def __init__(self, private_key: bytes, stream_id: str, chain_id: int, on_batch: Callable[[Batch], None]) -> None:
        self.node_id = address_of(private_key)
        self._private_key = private_key
        self._stream_id = stream_id
        self._on_batch = on_batch
        self._delegations = Delegations(chain_id)
        self._lock = threading.RLock()
        self._links: dict[bytes, Link] = {}
        self._parts: dict[int, _Part] = {}
        self._requests = itertools.count(1)
        self._answers: dict[int, queue.Queue[Packet]] = {}
        self._tracker: Link | None = None

    def connect(self, tracker: Contact) -> None:
        """Raises ConnectionError, OSError and ProtocolError."""
        self._tracker = self._link(tracker)
        dials, addresses = varint(1) + ascii_text("websocket"), varint(0)
        self._tracker.send(NODE_INFO, dials + addresses)

    def join(self, partition: int) -> None:
        with self._lock:
            self._parts[partition] = _Part()
            self._report(partition)

    def publish(self, batch: Batch) -> None:
        with self._lock:
            part = self._parts[batch.chain.partition]
            part.seen.add(batch.digest())
            part.published.append(batch)
            self._flood(batch, part, None)

    def storage_nodes(self) -> list[bytes]:
        """Linked to. Whether they are the stream's is in the registry."""
        if self._tracker is None:
            return []
        answer = self._ask(self._tracker, FIND_STORAGE, self._part(KEY_PARTITION))
        contacts = _contacts(_after_part(answer.body[4:], self._stream_id)[1])
        return [contact.node for contact in contacts if self._reached(contact)]

    def last(self, storage: bytes, partition: int, count: int, chain: tuple[bytes, str] | None = None) -> list[Batch]:
        """The newest messages of all, or of a publisher and chain. Raises ProtocolError with the code of a refusal."""
        selection = uint(0, 8) + varint(count)
        of = uint(0, 8) * 2 if chain is None else uint(1, 8) + chain[0] + uint(1, 8) + short(chain[1])
        request = self._part(partition) + selection + of + uint(_WINDOW_BYTES, 32) + _NO_TOKEN
        batches: list[Batch] = []

        def take(packet: Packet) -> bool:
            if packet.kind == RESEND_DATA:
                batch = decode_batch(packet.body[4:])
                if self._delegations.is_authentic(batch):
                    batches.append(batch)
            elif packet.kind == RESEND_END:
                _check_code(packet.body)
            return packet.kind == RESEND_END

        self._ask(self._links[storage], RESEND, request, take)
        return batches

    def keep_card(self, storage: bytes, card: Card) -> None:
        """Raises ProtocolError with the code of a refusal."""
        _check_code(self._ask(self._links[storage], KEEP_CARD, card.encode()).body)

    def cards(self, storage: bytes, users: list[bytes]) -> list[Card]:
        """Those it has, as their users signed them. Raises ProtocolError with the code of a refusal."""
        answer = self._ask(self._links[storage], ASK_CARDS, varint(len(users)) + b"".join(users))
        if answer.kind == STORED:
            _check_code(answer.body)
        cards = Reader(answer.body[4:]).items(64, "cards", read_card)
        return [card for card in cards if card.user in users and card.is_signed_by_key()]

    def close(self) -> None:
        for link in [*self._links.values()]:
            link.close()

    def _ask(
        self, link: Link, kind: int, body: bytes, is_last: Callable[[Packet], bool] = lambda _: True
    ) -> Packet:
        """Sends a request and returns the last packet of its answer."""
        request = next(self._requests)
        answers = self._answers[request] = queue.Queue()
        try:
            link.send(kind, uint(request, 32) + body)
            while not is_last(packet := answers.get(timeout=_SECONDS)):
                pass
            return packet
        finally:
            del self._answers[request]

    def _reached(self, contact: Contact) -> bool:
        with self._lock:
            try:
                return self._link(contact) is not None
            except (ConnectionError, OSError, ProtocolError):
                return False

    def _link(self, contact: Contact) -> Link:
        known = self._links.get(contact.node)
        if known is not None:
            return known
        if contact.url is None:
            raise ConnectionError("no address")
        link = dial(contact.url, contact.node, self._private_key, self._delegations)
        self._links[contact.node] = link
        threading.Thread(target=self._read, args=(link,), daemon=True).start()
        return link

    def _read(self, link: Link) -> None:
        try:
            for packet in link.packets():
                with self._lock:
                    self._receive(link, packet)
        finally:
            with self._lock:
                self._links.pop(link.peer, None)
                for part in self._parts.values():
                    part.sent.discard(link.peer)
                    part.attached.discard(link.peer)
            link.close()

    def _receive(self, link: Link, packet: Packet) -> None:
        kind, body = packet.kind, packet.body
        if kind == DATA:
            self._take(decode_batch(body), link)
        elif kind == DELEGATION:
            self._delegations.add(read_delegation(Reader(body)))
        elif kind == FETCH:
            # It keeps nothing: others have what is asked for.
            link.send(FETCHED, body[:4] + uint(1, 8))
        elif kind in (ATTACH, DETACH, INSTRUCTION):
            partition, reader = _after_part(body, self._stream_id)
            part = self._parts.get(partition)
            if part is None:
                return
            if kind == INSTRUCTION and link is self._tracker:
                self._instruct(partition, part, reader)
            elif kind == ATTACH:
                self._attach(partition, part, link)
            elif kind == DETACH and reader.uint(8) != _REPLACED:
                part.attached.discard(link.peer)
                part.sent.discard(link.peer)
        elif kind in (STORAGE_NODES, RESEND_DATA, RESEND_END, STORED, CARDS):
            waiting = self._answers.get(int.from_bytes(body[:4], "big"))
            if waiting is not None:
                waiting.put(packet)

    def _take(self, batch: Batch, link: Link) -> None:
        part = self._parts.get(batch.chain.partition)
        if part is None or batch.chain.stream_id != self._stream_id or batch.digest() in part.seen:
            return
        if not self._delegations.is_authentic(batch):
            if batch.delegation is not None:
                link.send(ASK_DELEGATION, batch.delegation)
            return
        part.seen.add(batch.digest())
        self._flood(batch, part, link)
        self._on_batch(batch)

    def _flood(self, batch: Batch, part: _Part, source: Link | None) -> None:
        for peer in part.attached:
            if peer in self._links and (source is None or peer != source.peer):
                self._links[peer].send(DATA, batch.encode())

    def _instruct(self, partition: int, part: _Part, reader: Reader) -> None:
        part.counter = reader.varint()
        for contact in _contacts(reader):
            if self._reached(contact):
                self._send_attach(partition, part, self._links[contact.node])
        self._report(partition)

    def _attach(self, partition: int, part: _Part, link: Link) -> None:
        """Whether the other one may read is for those to ask the registry who send anything that is not sealed."""
        part.attached.add(link.peer)
        self._send_attach(partition, part, link)
        for batch in part.published:
            link.send(DATA, batch.encode())
        self._report(partition)

    def _send_attach(self, partition: int, part: _Part, link: Link) -> None:
        if link.peer in part.sent:
            return
        part.sent.add(link.peer)
        since_ms, no_heads = max(1, round((time.monotonic() - part.joined_s) * 1000)), varint(0)
        link.send(ATTACH, self._part(partition) + varint(since_ms) + no_heads + _READS)

    def _report(self, partition: int) -> None:
        part = self._parts[partition]
        unknown = varint(0)
        neighbours = [peer + unknown for peer in sorted(part.attached & part.sent)]
        reports = varint(len(neighbours)) + b"".join(neighbours)
        if self._tracker is not None:
            self._tracker.send(STATUS, self._part(partition) + varint(part.counter) + reports + varint(0) + _READS)

    def _part(self, partition: int) -> bytes:
        return ascii_text(self._stream_id) + uint(partition, 8)


def _after_part(data: bytes, stream_id: str) -> tuple[int, Reader]:
    """The partition of a stream part, -1 of another stream, and what is behind it."""
    reader = Reader(data)
    is_it = reader.ascii(243, "stream id") == stream_id
    partition = reader.uint(8)
    return (partition if is_it else -1), reader


def _contacts(reader: Reader) -> list[Contact]:
    return reader.items(64, "neighbours", _contact)


def _contact(reader: Reader) -> Contact:
    node = reader.fixed(20)
    reader.items(8, "kinds", lambda item: item.ascii(16, "kind"))
    addresses = reader.items(8, "addresses", lambda item: (item.ascii(16, "kind"), item.ascii(512, "address")))
    return Contact(node, dict(reversed(addresses)).get("websocket"))


def _check_code(body: bytes) -> None:
    reader = Reader(body)
    reader.uint(32)
    code, text = reader.ascii(512, "code"), reader.utf8(512, "text")
    if code:
        raise ProtocolError(code, text or code)
