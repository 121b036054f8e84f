"""keccak-256, secp256k1, and what users sign: typed data (EIP-712) and messages (EIP-191)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from coincurve import PrivateKey, PublicKey
from Crypto.Hash import keccak

# secp256k1, SEC 2, section 2.4.1.
_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def keccak256(*parts: bytes) -> bytes:
    return bytes(keccak.new(digest_bits=256, data=b"".join(parts)).digest())


def personal(hashed: bytes) -> bytes:
    return keccak256(b"\x19Ethereum Signed Message:\n32", hashed)


def address_of(private_key: bytes) -> bytes:
    return _address(PrivateKey(private_key).public_key)


def sign(private_key: bytes, hashed: bytes) -> bytes:
    return bytes(PrivateKey(private_key).sign_recoverable(hashed, hasher=None))


def recover(hashed: bytes, signature: bytes) -> bytes | None:
    """The address whose key signed; None where it is no signature of the page's form."""
    if len(signature) != 65 or signature[64] > 1 or int.from_bytes(signature[32:64], "big") > _ORDER // 2:
        return None
    try:
        return _address(PublicKey.from_signature_and_message(signature, hashed, hasher=None))
    except ValueError:
        return None


def typed_data_digest(kind: str, fields: Sequence[tuple[str, str]], chain_id: int, said: Mapping[str, str]) -> bytes:
    """Of a statement: its fields are pairs of a type, `string` or `address`, and a name."""
    domain = keccak256(
        keccak256(b"EIP712Domain(string name,string version,uint256 chainId)"),
        keccak256(b"Runnel"),
        keccak256(b"1"),
        chain_id.to_bytes(32, "big"),
    )
    typed = f"{kind}({','.join(f'{kind_of} {name}' for kind_of, name in fields)})"
    values = [_word(kind_of, said[name]) for kind_of, name in fields]
    return keccak256(b"\x19\x01", domain, keccak256(keccak256(typed.encode()), *values))


def time_text(time_ms: int, block: int = 0) -> str:
    """A time as users sign it, with the block in which a contract's signature was checked."""
    date = datetime.fromtimestamp(time_ms // 1000, timezone.utc)
    text = f"{date:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03d}Z"
    return text if block == 0 else f"{text}, block {block}"


def _word(kind: str, value: str) -> bytes:
    return bytes(12) + bytes.fromhex(value[2:]) if kind == "address" else keccak256(value.encode())


def _address(key: PublicKey) -> bytes:
    return keccak256(bytes(key.format(compressed=False))[1:])[12:]
