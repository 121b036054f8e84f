"""Compares this implementation with the vectors, and seals anew what another one opens."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from . import derivations as d
from .batches import Batch, Chain, Message, batch_key, decode_batch, open_batch, seal, sign_batch
from .cards import decode_card, reading_key_material
from .delegations import read_delegation
from .encoding import ProtocolError, Reader
from .hpke import XWING, decapsulate, key_schedule, open_seal, public_key
from .hpke import seal as seal_to
from .key_part import KeyFinder, KeyPart
from .records import LinkSecret, Record, decode_link_secret, decode_record, encode_record
from .signatures import address_of, sign

Json = Any


def plain(value: Json) -> Json:
    """A value of the vectors: bytes instead of `{ "hex": … }`."""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"]) if value.keys() == {"hex"} else {k: plain(v) for k, v in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def shown(value: Json) -> Json:
    """The opposite."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, dict):
        return {k: shown(v) for k, v in value.items()}
    return [shown(one) for one in value] if isinstance(value, list) else value


def _id(text: str) -> bytes:
    return bytes.fromhex(text[2:])


class Checks:
    """Counts what is as it should be, and names what is not."""

    def __init__(self) -> None:
        self.passed = 0
        self.failures: list[str] = []

    def same(self, what: str, actual: object, expected: object) -> None:
        if actual == expected:
            self.passed += 1
        else:
            self.failures.append(what)

    def refused(self, what: str, data: bytes, code: str) -> None:
        try:
            decode_record(data)
            self.failures.append(what)
        except ProtocolError as error:
            self.same(what, error.code, code)


def check_standards(checks: Checks, vectors: Json) -> None:
    for vector in vectors["xwing"]["vectors"]:
        key = public_key(bytes.fromhex(vector["seedHex"]))
        checks.same("public key of X-Wing", hashlib.sha256(key).hexdigest(), vector["publicKeySha256"])
    for kem, name in ((XWING, "hpkeXwing"), (0x20, "hpkeX25519")):
        vector = {k: bytes.fromhex(v) for k, v in vectors[name].items() if k.endswith("Hex")}
        shared = vector["sharedSecretHex"]
        if kem == XWING:
            checks.same("X-Wing", decapsulate(vector["privateKeyHex"], vector["encapsulatedHex"]), shared)
        key, nonce = key_schedule(kem, shared, vector["infoHex"])
        checks.same(f"key schedule of {name}", (key, nonce), (vector["keyHex"], vector["nonceHex"]))
        opened = ChaCha20Poly1305(key).decrypt(nonce, vector["sealedHex"], vector["associatedHex"])
        checks.same(f"encryption of {name}", opened, vector["plaintextHex"])


def check_cards(checks: Checks, vectors: Json) -> None:
    for vector in vectors:
        card = decode_card(bytes.fromhex(vector["hex"]))
        name, key = vector["name"], bytes.fromhex(vector["privateKey"])
        checks.same(f"bytes of card {name}", card.encode().hex(), vector["hex"])
        checks.same(f"hash of card {name}", card.hash().hex(), vector["hashHex"])
        checks.same(f"digest of card {name}", card.digest().hex(), vector["digestHex"])
        checks.same(f"signer of card {name}", card.is_signed_by_key(), address_of(key) == card.user)


def check_delegations(checks: Checks, vectors: Json) -> None:
    for vector in vectors:
        name, data = vector["name"], bytes.fromhex(vector["hex"])
        delegation = read_delegation(Reader(data))
        checks.same(f"bytes of delegation {name}", delegation.data, data)
        checks.same(f"digest of delegation {name}", delegation.digest().hex(), vector["digestHex"])
        checks.same(f"reference of delegation {name}", delegation.reference().hex(), vector["ref"])
        by_key = address_of(bytes.fromhex(vector["privateKey"])) == delegation.user
        checks.same(f"signer of delegation {name}", delegation.is_signed_by_key(), by_key)


def check_encryption(checks: Checks, vectors: Json) -> None:
    given = plain(vectors)
    for user in given["users"]:
        _check_user(checks, user)
    opener = given["users"][0]
    ring = d.keyring(opener["readingKey"], given["streamId"])
    checks.same("keyring", (ring, d.keyring_id(ring)), (given["keyring"], given["keyringId"]))
    for epoch in given["epochs"]:
        committed = d.commitment(epoch["epochKey"])
        checks.same("epoch", (committed, d.epoch_id(committed)), (epoch["commitment"], epoch["epochId"]))
        for one in epoch["publisherKeys"]:
            derived = d.publisher_key(epoch["epochKey"], _id(one["publisherId"]))
            checks.same("publisher key", derived, one["publisherKey"])
    for vector in given["records"]:
        _check_record(checks, given, vector)
    for number, name in ((0, "readers"), (1, "cohorts")):
        _check_finder(checks, given, number, name)
    for refused in given["refusedRecords"]:
        checks.refused(refused["name"], bytes.fromhex(refused["hex"]), refused["code"])
    for vector in given["unopenedSeals"]:
        opened = open_seal(vector["privateKey"], vector["info"], vector["encapsulated"], vector["sealed"])
        checks.same(vector["name"], opened, None)
    for vector in given["sealedBatches"]:
        _check_batch(checks, vector, opener["privateKey"])
    for vector in given["unopenedBatches"]:
        checks.same(vector["name"], open_batch(decode_batch(vector["bytes"]), vector["publisherKey"]), None)


def _check_user(checks: Checks, user: Json) -> None:
    name, address, card = user["name"], _id(user["userId"]), decode_card(user["card"])
    signed = reading_key_material(user["privateKey"], address, card.chain_id, user["generation"])
    checks.same(f"material of {name}", user["material"] in (signed, user["privateKey"]), True)
    reading = d.reading_key(user["material"], address, user["generation"])
    checks.same(f"reading key of {name}", reading, user["readingKey"])
    private = d.card_private_key(reading)
    checks.same(f"private key of {name}", private, user["cardPrivateKey"])
    checks.same(f"public key of {name}", (public_key(private), card.public_key), (user["publicKey"],) * 2)
    checks.same(f"card of {name}", (card.hash(), card.is_signed_by_key()), (user["cardHash"], True))
    checks.same(f"signature of {name}", sign(user["privateKey"], card.digest()), card.signature)
    checks.same(f"tag of {name}", d.tag(address, card.hash()), user["tag"])
    for group in user["groups"]:
        checks.same(f"group of {name}", d.group(address, group["count"]), group["group"])


def _check_record(checks: Checks, given: Json, vector: Json) -> None:
    name, record = vector["name"], decode_record(vector["bytes"])
    checks.same(f"fields of {name}", record, vector["record"])
    checks.same(f"bytes of {name}", encode_record(record), vector["bytes"])
    checks.same(f"chain of {name}", _chain_of(given, record, vector), vector["chain"])
    if record["kind"] not in ("link", "answer"):
        return
    [user] = [one for one in given["users"] if one["name"] == vector["to"]]
    reader, card_hash, stream_id = _id(user["userId"]), user["cardHash"], given["streamId"]
    if record["kind"] == "link":
        checks.same(f"hint and tag of {name}", (record["hint"], record["tag"]), (d.hint(reader), user["tag"]))
        info = d.link_info(_id(given["openerId"]), reader, user["tag"], vector["chain"], stream_id)
        secret = d.link_secret(given["keyring"], reader, card_hash)
        opened = decode_link_secret(vector["plaintext"])
        checks.same(f"secret of {name}", (secret, opened and opened.secret), (vector["linkSecret"],) * 2)
    else:
        info = d.answer_info(reader, card_hash, stream_id)
    checks.same(f"info of {name}", info, vector["info"])
    unsealed = open_seal(user["cardPrivateKey"], info, record["encapsulated"], record["sealed"])
    checks.same(f"plaintext of {name}", unsealed, vector["plaintext"])


def _chain_of(given: Json, record: Record, vector: Json) -> str:
    match record["kind"]:
        case "link":
            [user] = [one for one in given["users"] if one["name"] == vector["to"]]
            return d.link_chain(given["keyringId"], _id(user["userId"]))
        case "epoch":
            return d.epoch_chain(d.epoch_id(record["commitment"]))
        case "cohort":
            return d.cohort_chain(d.cohort_id(vector["cohortKey"]))
        case "publishers":
            [publisher] = [one for one in given["users"] if one["name"].startswith("publisher")]
            return d.publishers_chain(record["commitment"], d.group(_id(publisher["userId"]), 1))
        case "newest":
            return d.NEWEST_CHAIN
        case "request":
            return d.REQUEST_CHAIN
        case _:
            return d.answer_chain(_id(record["readerId"]))


def _check_finder(checks: Checks, given: Json, epoch_number: int, name: str) -> None:
    """Each reader, and the opener itself, opens a batch by what is in the key part, as signed batches."""
    opener, *others = given["users"]
    part = KeyPart(given["streamId"])
    epochs = [one for one in given["records"] if one["record"]["kind"] == "epoch"]
    leave_out = [one["name"] for one in epochs if one is not epochs[epoch_number]]
    for i, vector in enumerate(one for one in given["records"] if one["name"] not in leave_out):
        chain = Chain(given["streamId"], given["partition"], _id(given["openerId"]), vector["chain"])
        batch = sign_batch(chain, (Message(1_750_000_000_000 + i, i, None, 0, vector["bytes"]),), opener["privateKey"])
        part.add(decode_batch(batch.encode()))
    sealed = decode_batch(given["sealedBatches"][0]["bytes"])
    for user in [opener, *others]:
        ring = d.keyring(user["readingKey"], given["streamId"])
        finder = KeyFinder(_id(user["userId"]), [user["cardPrivateKey"]], ring, part)
        keys = finder.publisher_keys(sealed.chain.publisher, sealed.messages[0].group_key_id)
        is_reader = not user["name"].startswith("publisher")
        checks.same(f"{name}: {user['name']}", any(open_batch(sealed, key) for key in keys), is_reader)
        if not is_reader:
            key = finder.writer_key(_id(given["openerId"]), sealed.messages[0].group_key_id)
            checks.same(f"{name}: key of {user['name']}", key, given["epochs"][0]["publisherKeys"][1]["publisherKey"])


def _check_batch(checks: Checks, vector: Json, private_key: bytes) -> None:
    name, batch = vector["name"], decode_batch(vector["bytes"])
    key = d.publisher_key(vector["epochKey"], _id(vector["publisherId"]))
    checks.same(f"keys of {name}", (key, batch_key(key, batch.chain)), (vector["publisherKey"], vector["batchKey"]))
    checks.same(f"signer of {name}", batch.signer(), _id(vector["publisherId"]))
    contents = [(message["contentType"], message["content"]) for message in vector["messages"]]
    checks.same(f"contents of {name}", open_batch(batch, key), contents)
    again = _sealed_again(batch, contents, key, vector["epochId"], private_key)
    checks.same(f"{name}, sealed again", again.encode(), vector["bytes"])


def _sealed_again(
    batch: Batch, contents: list[tuple[int, bytes]], key: bytes, epoch_id: str, private_key: bytes
) -> Batch:
    messages = tuple(
        Message(one.timestamp, one.sequence, one.previous, content_type, content, extensions=one.extensions)
        for one, (content_type, content) in zip(batch.messages, contents, strict=True)
    )
    return sign_batch(batch.chain, seal(messages, batch.chain, key, epoch_id), private_key)


def make(vectors: Json) -> Json:
    """Everything an opener publishes, with keys drawn now, for the users of the vectors; and batches that it sealed."""
    given = plain(vectors)
    opener, *readers = given["users"]
    stream_id, opener_id, private_key = given["streamId"], _id(given["openerId"]), opener["privateKey"]
    epoch_key, cohort_key, earlier_key = os.urandom(32), os.urandom(32), os.urandom(32)
    committed = d.commitment(epoch_key)
    id_of_earlier = d.commitment(earlier_key)[:6]
    ring = d.keyring(opener["readingKey"], stream_id)
    ring_id = d.keyring_id(ring)
    records: list[tuple[str, Record]] = []
    for user in readers:
        reader, card_hash = _id(user["userId"]), user["cardHash"]
        secret = LinkSecret(d.link_secret(ring, reader, card_hash), committed[:6], None, True)
        chain = d.link_chain(ring_id, reader)
        info = d.link_info(opener_id, reader, user["tag"], chain, stream_id)
        encapsulated, sealed = seal_to(user["publicKey"], info, secret.encode())
        to = {"hint": d.hint(reader), "tag": user["tag"], "encapsulated": encapsulated, "sealed": sealed}
        records.append((chain, {"kind": "link", **to}))
    cohort = d.cohort_id(cohort_key)
    wrapped = [
        {"tag": user["tag"], "wrapped": d.wrap(_secret(ring, user), "wrapped cohort", cohort, cohort_key)}
        for user in readers
    ]
    entry = {"cohortId": cohort, "wrapped": d.wrap(cohort_key, "wrapped epoch", committed, epoch_key)}
    earlier = d.wrap(epoch_key, "earlier epoch", id_of_earlier, earlier_key)
    epoch = {
        **{"kind": "epoch", "keyringId": ring_id, "commitment": committed, "createdMs": 2, "readersAtBlock": 1},
        **{"own": d.wrap(ring, "own epoch", committed, epoch_key), "readers": [], "cohorts": [entry, entry]},
        **{"publisherRecords": 0, "earlier": [{"id": id_of_earlier, "wrapped": earlier}]},
    }
    records.append((d.cohort_chain(cohort), {"kind": "cohort", "keyringId": ring_id, "readers": wrapped}))
    records.append((d.epoch_chain(d.epoch_id(committed)), epoch))
    records.append((d.NEWEST_CHAIN, {"kind": "newest", "keyringId": ring_id, "commitment": committed}))
    key = d.publisher_key(epoch_key, opener_id)
    batches = [
        _sealed_again(
            decode_batch(one["bytes"]),
            [(message["contentType"], message["content"]) for message in one["messages"]],
            key,
            d.epoch_id(committed),
            private_key,
        )
        for one in given["sealedBatches"]
    ]
    return shown(
        {
            **{"epochKey": epoch_key, "earlierKey": earlier_key, "epochId": d.epoch_id(committed)},
            "records": [_in_batch(given, chain, record, i, private_key) for i, (chain, record) in enumerate(records)],
            "batches": [batch.encode() for batch in batches],
        }
    )


def _secret(ring: bytes, user: Json) -> bytes:
    return d.link_secret(ring, _id(user["userId"]), user["cardHash"])


def _in_batch(given: Json, chain: str, record: Record, number: int, private_key: bytes) -> bytes:
    of = Chain(given["streamId"], given["partition"], _id(given["openerId"]), chain)
    message = Message(1_750_000_000_000 + number, number, None, 0, encode_record(record))
    return sign_batch(of, (message,), private_key).encode()
