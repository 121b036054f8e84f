"""The four phases, one a file."""
