"""HPKE (RFC 9180) in base mode with X-Wing, HKDF-SHA256 and ChaCha20-Poly1305: seals to a card."""

from __future__ import annotations

import hashlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from .derivations import hkdf_expand, hkdf_extract

XWING = 0x647A
PUBLIC_KEY_BYTES = 1216
ENCAPSULATED_BYTES = 1120
_ML_KEM_KEY_BYTES = 1184
_ML_KEM_CIPHERTEXT_BYTES = 1088
_LABEL = bytes.fromhex("5c2e2f2f5e5c")


def public_key(seed: bytes) -> bytes:
    """The public key of X-Wing to a private key, which is a seed of 32 bytes."""
    ml_kem, x25519 = _private_keys(seed)
    return ml_kem.public_key().public_bytes_raw() + x25519.public_key().public_bytes_raw()


def encapsulate(to: bytes) -> tuple[bytes, bytes]:
    """The shared secret and what carries it. Raises ValueError for what is no public key."""
    if len(to) != PUBLIC_KEY_BYTES:
        raise ValueError("not a public key of X-Wing")
    ml_kem, x25519 = to[:_ML_KEM_KEY_BYTES], to[_ML_KEM_KEY_BYTES:]
    ml_secret, ciphertext = MLKEM768PublicKey.from_public_bytes(ml_kem).encapsulate()
    ephemeral = X25519PrivateKey.generate()
    sent = ephemeral.public_key().public_bytes_raw()
    x_secret = ephemeral.exchange(X25519PublicKey.from_public_bytes(x25519))
    return _combined(ml_secret, x_secret, sent, x25519), ciphertext + sent


def decapsulate(seed: bytes, encapsulated: bytes) -> bytes:
    """Raises ValueError where the bytes cannot have been encapsulated."""
    if len(encapsulated) != ENCAPSULATED_BYTES:
        raise ValueError("not encapsulated by X-Wing")
    ml_kem, x25519 = _private_keys(seed)
    ciphertext, sent = encapsulated[:_ML_KEM_CIPHERTEXT_BYTES], encapsulated[_ML_KEM_CIPHERTEXT_BYTES:]
    x_secret = x25519.exchange(X25519PublicKey.from_public_bytes(sent))
    own = x25519.public_key().public_bytes_raw()
    return _combined(ml_kem.decapsulate(ciphertext), x_secret, sent, own)


def seal(to: bytes, info: bytes, plaintext: bytes) -> tuple[bytes, bytes]:
    """What is encapsulated, and the ciphertext. Raises ValueError for what is no public key."""
    shared, encapsulated = encapsulate(to)
    key, nonce = key_schedule(XWING, shared, info)
    return encapsulated, ChaCha20Poly1305(key).encrypt(nonce, plaintext, None)


def open_seal(seed: bytes, info: bytes, encapsulated: bytes, sealed: bytes) -> bytes | None:
    """None where it was sealed for another key or purpose, or changed since."""
    try:
        key, nonce = key_schedule(XWING, decapsulate(seed, encapsulated), info)
        return ChaCha20Poly1305(key).decrypt(nonce, sealed, None)
    except (InvalidTag, ValueError):
        return None


def key_schedule(kem: int, shared: bytes, info: bytes) -> tuple[bytes, bytes]:
    """The key and the first nonce (RFC 9180, section 5.1)."""
    suite = b"HPKE" + kem.to_bytes(2, "big") + bytes.fromhex("00010003")

    def extract(salt: bytes, label: bytes, key: bytes) -> bytes:
        return hkdf_extract(salt, b"HPKE-v1" + suite + label + key)

    def expand(prk: bytes, label: bytes, context: bytes, length: int) -> bytes:
        return hkdf_expand(prk, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + context, length)

    context = b"\0" + extract(b"", b"psk_id_hash", b"") + extract(b"", b"info_hash", info)
    secret = extract(shared, b"secret", b"")
    return expand(secret, b"key", context, 32), expand(secret, b"base_nonce", context, 12)


def _private_keys(seed: bytes) -> tuple[MLKEM768PrivateKey, X25519PrivateKey]:
    if len(seed) != 32:
        raise ValueError("not a private key of X-Wing")
    expanded = hashlib.shake_256(seed).digest(96)
    return MLKEM768PrivateKey.from_seed_bytes(expanded[:64]), X25519PrivateKey.from_private_bytes(expanded[64:])


def _combined(ml_secret: bytes, x_secret: bytes, sent: bytes, x_public: bytes) -> bytes:
    return hashlib.sha3_256(ml_secret + x_secret + sent + x_public + _LABEL).digest()
