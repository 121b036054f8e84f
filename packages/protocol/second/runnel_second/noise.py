"""Noise_NN_25519_ChaChaPoly_SHA256 as the dialler, whose messages travel in pieces: "Sealed frames"."""

from __future__ import annotations

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

_NAME = b"Noise_NN_25519_ChaChaPoly_SHA256"
_FRAMES_OF_A_KEY = 1 << 20


class Cipher:
    """One direction of a link."""

    def __init__(self, key: bytes) -> None:
        self._aead = ChaCha20Poly1305(key)
        self._count = 0

    def seal(self, plaintext: bytes, associated: bytes = b"") -> bytes:
        return self._aead.encrypt(self._nonce(), plaintext, associated)

    def open(self, sealed: bytes, associated: bytes = b"") -> bytes:
        """Raises ConnectionError for what the other end did not seal as its next frame."""
        try:
            return self._aead.decrypt(self._nonce(), sealed, associated)
        except InvalidTag as error:
            raise ConnectionError("NOT_AUTHENTIC") from error

    def _nonce(self) -> bytes:
        """Counts, and replaces the key when it is due."""
        if self._count > 0 and self._count % _FRAMES_OF_A_KEY == 0:
            self._aead = ChaCha20Poly1305(self._aead.encrypt(_nonce((1 << 64) - 1), bytes(32), b"")[:32])
        self._count += 1
        return _nonce(self._count - 1)


class Dialler:
    """The handshake; `key` goes into the hello as its nonce."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()
        self.key = self._private.public_key().public_bytes_raw()

    def finish(self, prologue: bytes, peer_key: bytes, sealed: bytes) -> tuple[bytes, Cipher, Cipher]:
        """The payload of the second message, and the ciphers for sending and receiving."""
        hashed = _NAME
        for data in (prologue, self.key, b"", peer_key):
            hashed = hashlib.sha256(hashed + data).digest()
        shared = self._private.exchange(X25519PublicKey.from_public_bytes(peer_key))
        chaining, key = _hkdf(_NAME, shared)
        payload = Cipher(key).open(sealed, hashed)
        sending, receiving = _hkdf(chaining, b"")
        return payload, Cipher(sending), Cipher(receiving)


def _nonce(count: int) -> bytes:
    return bytes(4) + count.to_bytes(8, "little")


def _hkdf(chaining: bytes, material: bytes) -> tuple[bytes, bytes]:
    key = hmac.digest(chaining, material, "sha256")
    first = hmac.digest(key, b"\x01", "sha256")
    return first, hmac.digest(key, first + b"\x02", "sha256")
