"""The client of the control API, against a real HTTP server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from .control import MAX_ANSWER_BYTES, HttpControl, Status, answering

TOKEN = "a-token-of-some-length"
STATUS = {"role": "node", "nodeId": "0xab", "pid": 7, "websocketUrl": None, "streamParts": []}


class Machine(BaseHTTPRequestHandler):
    """Answers by path: good and bad machines."""

    answers = {
        "/good": (200, json.dumps(STATUS)),
        "/tracker": (200, json.dumps({**STATUS, "role": "tracker", "websocketUrl": "ws://a:1"})),
        "/no-json": (200, "<html>"),
        "/list": (200, "[]"),
        "/half": (200, json.dumps({"role": "node"})),
        "/error": (500, "{}"),
        "/worker": (426, ""),
        "/long": (200, json.dumps({**STATUS, "padding": "x" * MAX_ANSWER_BYTES})),
    }
    stopped: list[str] = []

    def _answer(self) -> None:
        if self.path == "/worker" and "authorization" in self.headers:
            self.send_error(400)
            return
        if self.path != "/worker" and self.headers["authorization"] != f"Bearer {TOKEN}":
            self.send_error(401)
            return
        code, text = self.answers[self.path.removesuffix("/v1/control").removesuffix("/v1/control/stop")]
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.stopped.append(self.path)
        # Ends before it has answered.
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Machine)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_reads_who_answers(url: str) -> None:
    control = HttpControl(TOKEN)
    assert control.status(f"{url}/good") == Status("node", "0xab", 7, None)
    assert control.status(f"{url}/tracker") == Status("tracker", "0xab", 7, "ws://a:1")


@pytest.mark.parametrize("path", ["no-json", "list", "half", "error", "long"])
def test_whoever_answers_something_else_does_not_answer(url: str, path: str) -> None:
    assert HttpControl(TOKEN).status(f"{url}/{path}") is None


def test_without_the_token_nobody_answers(url: str) -> None:
    assert HttpControl("another-token-altogether").status(f"{url}/good") is None


def test_nobody_at_all() -> None:
    assert HttpControl(TOKEN, 1).status("http://127.0.0.1:1") is None


def test_a_process_that_ends_without_an_answer_was_stopped(url: str) -> None:
    HttpControl(TOKEN).stop(f"{url}/good")
    assert Machine.stopped == ["/good/v1/control/stop"]


def test_asks_many_and_names_those_that_are_right(url: str) -> None:
    urls = {name: f"{url}/{name}" for name in ("good", "tracker", "error")}
    assert answering(HttpControl(TOKEN), urls, lambda status: status.role == "node") == {"good"}


def test_a_worker_refuses_all_but_websockets_and_is_not_told_the_token(url: str) -> None:
    place = url.removeprefix("http://")
    control = HttpControl(TOKEN)
    assert control.has_worker(f"{place}/worker")
    assert not control.has_worker(f"{place}/good")
    assert not control.has_worker("127.0.0.1:1")
