"""Errors of the protocol: another node's fault, and misuse of our own session."""

from __future__ import annotations


class DecodeError(Exception):
    """Bytes that are not a message. The text says what was expected and got, in lower case, for logs."""


class RemoteProtocolError(Exception):
    """Another node broke the protocol. Raised where its bytes enter, turned there into an event, never fatal.

    `node` is the culprit's key, or None where the bytes prove nothing about who made them. `evidence` holds signed
    bytes that prove the fault to anybody; empty where nothing is proven.
    """

    def __init__(self, node: bytes | None, reason: str, evidence: tuple[bytes, ...] = ()) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason
        self.evidence = evidence


class LocalProtocolError(Exception):
    """Our own caller asked the session for something that its state does not allow."""
