"""Links to nodes and trackers over WebSockets: dialling, the handshake, and packets in sealed frames."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from .delegations import Delegations, read_delegation
from .encoding import ProtocolError, Reader, ascii_text, malformed, uint, utf8, varint
from .noise import Cipher, Dialler
from .signatures import address_of, keccak256, personal, recover, sign

HELLO, PROOF, PING, PONG, CLOSE, FRAGMENT, CREDENTIAL = range(1, 8)
_VERSION = 3
_NODE, _NO_SEALING, _CHACHA20_POLY1305 = 0, 0, 2
_DIALLER, _LISTENER = 0, 1
_ACTS_FOR = "acts-for"
_MAX_FRAME_BYTES = 4 * 1024 * 1024
_SECONDS = 10.0


@dataclass(frozen=True)
class Packet:
    kind: int
    body: bytes


@dataclass(frozen=True)
class _Hello:
    node: bytes
    nonce: bytes
    capabilities: list[str]
    body: bytes


class Link:
    """One link, open. Whoever dialled reads `packets`, which answers pings; anybody may send."""

    def __init__(self, socket: ClientConnection, peer: bytes, sending: Cipher, receiving: Cipher) -> None:
        self.peer = peer
        self._socket = socket
        self._sending = sending
        self._receiving = receiving
        self._lock = threading.Lock()

    def send(self, kind: int, body: bytes) -> None:
        """What a link that has ended does not take is lost, as it would be on the way."""
        with self._lock:
            try:
                self._socket.send(self._sending.seal(_packet(kind, body)))
            except ConnectionClosed:
                pass

    def packets(self) -> Iterator[Packet]:
        """Until the link ends. Raises ProtocolError and ConnectionError."""
        pieces = b""
        for frame in self._socket:
            for packet in _packets(self._receiving.open(_binary(frame))):
                if packet.kind == FRAGMENT:
                    pieces += packet.body[1:]
                    if packet.body[0] == 0:
                        continue
                    [packet], pieces = list(_packets(pieces)), b""
                if packet.kind == PING:
                    self.send(PONG, packet.body)
                elif packet.kind == CLOSE:
                    return
                else:
                    yield packet

    def close(self) -> None:
        self._socket.close()


def dial(url: str, peer: bytes, private_key: bytes, delegations: Delegations) -> Link:
    """Raises ConnectionError, OSError and ProtocolError where `peer` is not there, or does not prove that it is."""
    socket = connect(url, compression=None, proxy=None, open_timeout=_SECONDS, max_size=_MAX_FRAME_BYTES)
    try:
        return _handshake(socket, url, peer, private_key, delegations)
    except BaseException:
        socket.close()
        raise


def _handshake(
    socket: ClientConnection, url: str, peer: bytes, private_key: bytes, delegations: Delegations
) -> Link:
    noise = Dialler()
    own = _hello(address_of(private_key), noise.key, _address(url))
    socket.send(_packet(HELLO, own))
    [packet] = _packets(_binary(socket.recv(_SECONDS)))
    if packet.kind == CLOSE:
        raise ConnectionError(packet.body.decode("utf-8", "replace"))
    other = _read_hello(packet)
    transcript = ascii_text("runnel-link-v2") + varint(len(own)) + own + varint(len(other.body)) + other.body
    payload, sending, receiving = noise.finish(transcript, other.nonce, _binary(socket.recv(_SECONDS)))
    proof, *credential = _packets(payload)
    if proof.kind != PROOF or other.node != peer or recover(_digest(transcript, _LISTENER), proof.body) != peer:
        raise ConnectionError("HANDSHAKE_FAILED")
    if _ACTS_FOR in other.capabilities:
        _take_credential(credential, delegations)
    link = Link(socket, peer, sending, receiving)
    link.send(PROOF, sign(private_key, _digest(transcript, _DIALLER)))
    return link


def _hello(node: bytes, nonce: bytes, address: str) -> bytes:
    versions, agent, capabilities = uint(_VERSION, 8) * 2, utf8("runnel-second"), varint(0)
    sealing = uint(_CHACHA20_POLY1305, 8)
    return versions + uint(_NODE, 8) + node + nonce + sealing + ascii_text(address) + agent + capabilities


def _address(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'wss' else 80)}"


def _read_hello(packet: Packet) -> _Hello:
    reader = Reader(packet.body)
    oldest, newest = reader.uint(8), reader.uint(8)
    if packet.kind != HELLO or not oldest <= _VERSION <= newest:
        raise ProtocolError("UNSUPPORTED_VERSION", f"versions {oldest} to {newest}")
    reader.uint(8)
    node, nonce, sealing = reader.fixed(20), reader.fixed(32), reader.uint(8)
    address, _ = reader.ascii(259, "address"), reader.utf8(512, "agent")
    if sealing != _NO_SEALING or address:
        raise malformed("a listener's hello with what a dialler says")
    capabilities = reader.items(32, "capabilities", lambda item: (item.ascii(64, "capability"), item.uint(8)))
    reader.end()
    missing = [name for name, required in capabilities if required]
    if missing:
        raise ProtocolError("CAPABILITY_MISSING", ", ".join(missing))
    return _Hello(node, nonce, [name for name, _ in capabilities], packet.body)


def _take_credential(packets: list[Packet], delegations: Delegations) -> None:
    """For whom a node acts is for those to know who ask the registry about it; here, that it does."""
    if len(packets) != 1 or packets[0].kind != CREDENTIAL:
        raise ConnectionError("HANDSHAKE_FAILED")
    if not delegations.add(read_delegation(Reader(packets[0].body))):
        raise ConnectionError("DELEGATION_FORGED")


def _digest(transcript: bytes, prover: int) -> bytes:
    """On a WebSocket nothing but the agreed keys binds a proof to its channel: the binding is empty."""
    return personal(keccak256(transcript, uint(prover, 8), varint(0)))


def _packet(kind: int, body: bytes) -> bytes:
    return uint(kind, 8) + varint(len(body)) + body


def _packets(frame: bytes) -> Iterator[Packet]:
    reader = Reader(frame)
    while reader.at < len(frame):
        yield Packet(reader.uint(8), reader.fixed(reader.count(1_114_116, "bytes of a body")))


def _binary(frame: str | bytes) -> bytes:
    if isinstance(frame, str):
        raise malformed("a text message")
    return frame
