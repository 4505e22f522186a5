"""Deterministic keys for tests."""

from __future__ import annotations

from nacl.signing import SigningKey


class Key:
    """A `Signer` from a small number."""

    def __init__(self, number: int) -> None:
        self._key = SigningKey(bytes([number]) * 32)
        self.node_id = bytes(self._key.verify_key)

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message).signature
