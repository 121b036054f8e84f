"""What a reader makes of a stream's key part: "How a reader finds a key", from records that are there already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from . import derivations as d
from .batches import KEY_PARTITION, Batch
from .encoding import ProtocolError, base64url
from .hpke import open_seal
from .records import LinkSecret, Record, decode_link_secret, decode_record

_MAX_STEPS_BACK = 200


@dataclass
class KeyPart:
    """The newest record of each publisher and chain."""

    stream_id: str
    _newest: dict[tuple[bytes, str], tuple[tuple[int, int], Record]] = field(default_factory=dict)

    def add(self, batch: Batch) -> Record | None:
        """Takes a batch, whose signature the caller has checked; None where it holds no record of this stream."""
        chain, message = batch.chain, batch.messages[0]
        is_record = chain.stream_id == self.stream_id and chain.partition == KEY_PARTITION
        if not is_record or len(batch.messages) != 1 or message.encryption_type != 0 or message.content_type != 0:
            return None
        try:
            record = decode_record(message.content)
        except ProtocolError:
            return None
        place = (message.timestamp, message.sequence)
        known = self._newest.get((chain.publisher, chain.name))
        if known is None or known[0] < place:
            self._newest[chain.publisher, chain.name] = (place, record)
        return record

    def find(self, publisher: bytes, chain: str, kind: str) -> Record | None:
        _, record = self._newest.get((publisher, chain), (None, None))
        return record if record is not None and record["kind"] == kind else None

    def answers(self, reader: bytes) -> Iterable[Record]:
        """By anybody, the newest first."""
        name = d.answer_chain(reader)
        found = [entry for (_, chain), entry in self._newest.items() if chain == name]
        return [record for _, record in sorted(found, key=lambda entry: entry[0], reverse=True)]


@dataclass
class KeyFinder:
    """Finds keys for one user. `card_keys` are its private keys of X-Wing, one a generation; `ring` is its keyring."""

    user: bytes
    card_keys: list[bytes]
    ring: bytes
    part: KeyPart
    _known: dict[str, list[bytes]] = field(default_factory=dict)

    def publisher_keys(self, publisher: bytes, epoch_id: str, holder: bytes | None = None) -> list[bytes]:
        """Keys with which a publisher may have sealed in an epoch: the one that opens is the right one."""
        for opener in dict.fromkeys([publisher, holder or publisher]):
            if not self._known.get(epoch_id):
                self._look(opener, epoch_id)
        return [d.publisher_key(key, publisher) for key in self._known.get(epoch_id, [])]

    def writer_key(self, holder: bytes, epoch_id: str) -> bytes | None:
        """This user's own key in an epoch of the key holder, where it may publish and not read."""
        record = self._epoch(holder, epoch_id)
        link, _ = self._link(holder, record["keyringId"]) if record is not None else (None, b"")
        if record is None or link is None or link.is_for_reader:
            return None
        committed, count = record["commitment"], record["publisherRecords"]
        chain = d.publishers_chain(committed, d.group(self.user, count))
        found = self.part.find(holder, chain, "publishers") if count > 0 else None
        for entry in [] if found is None else found["publishers"]:
            key = d.wrap(link.secret, "wrapped publisher", committed, entry["wrapped"])
            if d.publisher_tag(self.user, key) == entry["tag"]:
                return key
        return link.key if link.epoch_id == committed[:6] else None

    def _look(self, opener: bytes, epoch_id: str) -> None:
        if self._open(opener, epoch_id) is None:
            self._take_answers()
        if not self._known.get(epoch_id):
            self._go_back(opener, epoch_id)

    def _learn(self, key: bytes) -> bytes:
        keys = self._known.setdefault(d.epoch_id(d.commitment(key)), [])
        if key not in keys:
            keys.append(key)
        return key

    def _epoch(self, opener: bytes, epoch_id: str) -> Record | None:
        record = self.part.find(opener, d.epoch_chain(epoch_id), "epoch")
        return record if record is not None and d.epoch_id(record["commitment"]) == epoch_id else None

    def _open(self, opener: bytes, epoch_id: str) -> bytes | None:
        """Steps 2 to 4."""
        record = self._epoch(opener, epoch_id)
        if record is None:
            return None
        for key in self._candidates(opener, record):
            if d.commitment(key) == record["commitment"]:
                return self._learn(key)
        return None

    def _candidates(self, opener: bytes, record: Record) -> Iterable[bytes]:
        committed = record["commitment"]
        if opener == self.user and record["keyringId"] == d.keyring_id(self.ring):
            yield d.wrap(self.ring, "own epoch", committed, record["own"])
        link, tag = self._link(opener, record["keyringId"])
        if link is None or not link.is_for_reader:
            return
        if link.key is not None:
            yield link.key
        for entry in record["readers"]:
            if entry["tag"] == tag:
                yield d.wrap(link.secret, "wrapped epoch", committed, entry["wrapped"])
        if not record["cohorts"]:
            return
        own = record["cohorts"][d.group(self.user, len(record["cohorts"]))]
        cohort = self.part.find(opener, d.cohort_chain(own["cohortId"]), "cohort")
        for entry in [] if cohort is None else cohort["readers"]:
            if entry["tag"] != tag:
                continue
            key = d.wrap(link.secret, "wrapped cohort", own["cohortId"], entry["wrapped"])
            if d.cohort_id(key) == own["cohortId"]:
                yield d.wrap(key, "wrapped epoch", committed, own["wrapped"])

    def _link(self, opener: bytes, ring_id: bytes) -> tuple[LinkSecret | None, bytes]:
        chain = d.link_chain(ring_id, self.user)
        record = self.part.find(opener, chain, "link")
        if record is None:
            return None, b""
        info = d.link_info(opener, self.user, record["tag"], chain, self.part.stream_id)
        plaintext = self._unsealed(info, record)
        return (decode_link_secret(plaintext) if plaintext else None), record["tag"]

    def _beginning(self, opener: bytes, link: LinkSecret) -> bytes | None:
        """The epoch of a link, by the link or that epoch's record."""
        return link.key or self._open(opener, base64url(link.epoch_id))

    def _unsealed(self, info: bytes, record: Record) -> bytes | None:
        for key in self.card_keys:
            plaintext = open_seal(key, info, record["encapsulated"], record["sealed"])
            if plaintext is not None:
                return plaintext
        return None

    def _take_answers(self) -> None:
        for record in self.part.answers(self.user):
            info = d.answer_info(self.user, record["cardHash"], self.part.stream_id)
            plaintext = self._unsealed(info, record) or b""
            for start in range(0, len(plaintext) - 31, 32):
                self._learn(plaintext[start : start + 32])

    def _go_back(self, opener: bytes, epoch_id: str) -> None:
        """Step 6: from the newest epoch, and that of its link, to those before."""
        newest = self.part.find(opener, d.NEWEST_CHAIN, "newest")
        if newest is None:
            return
        link, _ = self._link(opener, newest["keyringId"])
        opened = self._open(opener, d.epoch_id(newest["commitment"]))
        begin = self._beginning(opener, link) if link is not None and link.is_for_reader else None
        starts = [key for key in (opened, begin) if key]
        tried: set[bytes] = set()
        while starts and len(tried) < _MAX_STEPS_BACK and not self._known.get(epoch_id):
            key = starts.pop()
            if key in tried:
                continue
            tried.add(self._learn(key))
            record = self._epoch(opener, d.epoch_id(d.commitment(key)))
            for entry in [] if record is None else record["earlier"]:
                earlier = d.wrap(key, "earlier epoch", entry["id"], entry["wrapped"])
                if d.epoch_id(d.commitment(earlier)) == base64url(entry["id"]):
                    starts.append(self._learn(earlier))
