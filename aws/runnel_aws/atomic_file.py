"""Files that are either as they were or as they shall be, whenever the process or the machine dies."""

from __future__ import annotations

import os
from pathlib import Path


def write_file(path: Path, text: str, mode: int = 0o644) -> None:
    """Replaces the file as a whole. The mode holds from the first byte."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
