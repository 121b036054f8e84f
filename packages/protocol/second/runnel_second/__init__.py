"""The encryption of Runnel, and a node that uses it, written from docs/protocol.md alone."""
