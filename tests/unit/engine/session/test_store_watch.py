"""Whether a store answers is asked beside Spark, by one thread, and only what was seen is said."""

from __future__ import annotations

import http.server
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from engine.session import store_watch
from engine.session.store_watch import StoreWatch, answers, endpoint_of


@contextmanager
def server(status: int) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.mark.parametrize(("status", "answered"), [(200, True), (403, True), (500, True), (503, False)])
def test_a_refusal_is_an_answer_and_a_gateway_without_a_store_is_none(status: int, answered: bool) -> None:
    with server(status) as endpoint:
        assert answers(endpoint) is answered


def test_neither_a_closed_port_nor_one_that_says_nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_watch, "ANSWER_SECONDS", 0.2)
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{port.getsockname()[1]}"
        assert not answers(f"http://{place}")
        port.listen()
        assert not answers(f"http://{place}")
        assert not answers(f"https://{place}")


def until(holds: Callable[[], bool]) -> bool:
    """Whether it holds within two seconds."""
    return any(holds() or time.sleep(0.02) for _ in range(100))


def test_its_silence_lasts_from_the_first_question_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    moment, asked, answer = 100.0, list[str](), threading.Event()

    def ask(endpoint: str) -> bool:
        asked.append(endpoint)
        answer.wait(5)
        return answer.is_set()

    monkeypatch.setattr(store_watch.time, "monotonic", lambda: moment)
    watch = StoreWatch("http://lake:9000", ask)
    assert watch.silence() is None
    moment = 120.0
    silence = watch.silence()
    assert silence is not None
    assert (silence.host, silence.seconds) == ("lake:9000", 20)
    assert len(asked) == 1  # a store that hangs holds one thread
    answer.set()
    assert until(lambda: watch.silence() is None)


def test_a_pause_in_which_nobody_asked_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 100.0
    monkeypatch.setattr(store_watch.time, "monotonic", lambda: moment)
    watch = StoreWatch("http://lake", lambda _: False)
    watch.silence()
    assert until(lambda: not watch._asking)
    moment = 145.0
    assert watch.silence() is None


def test_the_credentials_of_a_url_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 100.0
    monkeypatch.setattr(store_watch.time, "monotonic", lambda: moment)
    watch = StoreWatch("https://user:secret@lake:9000", lambda _: False)
    watch.silence()
    moment = 105.0
    silence = watch.silence()
    assert silence is not None
    assert silence.host == "lake:9000"


def test_a_host_that_cannot_be_is_no_answer() -> None:
    assert not answers("https://.foo")


@pytest.mark.parametrize(
    ("store", "confs", "endpoint"),
    [
        ("s3", {"spark.hadoop.fs.s3a.endpoint": "http://lake:9000"}, "http://lake:9000"),
        ("s3", {"spark.hadoop.fs.s3a.endpoint": "lake:9000"}, "https://lake:9000"),
        ("s3", {"spark.hadoop.fs.s3a.endpoint.region": "eu-west-1"}, "https://s3.eu-west-1.amazonaws.com"),
        ("s3", {}, "https://s3.amazonaws.com"),
        ("s3", {"spark.hadoop.fs.s3a.proxy.host": "proxy"}, ""),
        ("s3", {"spark.hadoop.fs.s3a.endpoint": "http://lake:port"}, ""),
        ("s3", {"spark.hadoop.fs.s3a.endpoint": "https://[::1"}, ""),
        ("abfs", {}, ""),
        ("", {}, ""),
    ],
)
def test_the_store_of_a_server_is_that_of_its_settings(
    store: str, confs: dict[str, str], endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_watch, "getproxies", dict)
    assert endpoint_of(store, confs) == endpoint
    if endpoint.startswith("https"):
        monkeypatch.setattr(store_watch, "getproxies", lambda: {"https": "http://proxy"})
        monkeypatch.setattr(store_watch, "proxy_bypass", lambda _: False)
        assert not endpoint_of(store, confs)
