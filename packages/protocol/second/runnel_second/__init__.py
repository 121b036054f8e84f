"""The encryption of Runnel, written from docs/protocol.md alone."""
