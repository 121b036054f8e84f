"""A driver as a process, whose progress can be watched and which can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import IO

from runnel_aws.regions import REPOSITORY_ROOT


class DriverProcess:
    """`python3 -m runnel_aws`, with what it says on stderr."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.said: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "runnel_aws", *arguments],
            cwd=REPOSITORY_ROOT / "aws",
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, text: str) -> None:
        """Until it says so. Raises AssertionError when it ends without."""
        for line in self._lines():
            if text in line:
                return
        raise AssertionError(f"ended without saying {text!r}:\n{self.all_said()}")

    def kill(self, how: signal.Signals) -> int:
        """Ends it, and waits for all that it started; returns its exit code."""
        self._process.send_signal(how)
        return self.end()

    def end(self) -> int:
        """Waits until it, and all that writes to the same stderr, has ended; returns its exit code."""
        for _ in self._lines():
            pass
        code = self._process.wait()
        self._stderr().close()
        return code

    def all_said(self) -> str:
        """For messages of failed tests."""
        return "".join(self.said)

    def _lines(self) -> Iterator[str]:
        while (line := self._stderr().readline()) != "":
            self.said.append(line)
            yield line

    def _stderr(self) -> IO[str]:
        stream = self._process.stderr
        assert stream is not None
        return stream
