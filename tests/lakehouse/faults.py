"""An HTTP proxy before an S3 store that loses requests and answers, answers 500, and is slow."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from tests.lakehouse.s3 import Store

FAULTS = {"request lost": 8, "answer lost": 12, "500 before": 8, "500 after": 8, "60 ms": 24, "none": 40}
"""How often, of a hundred requests. "answer lost" and "500 after" come after the store did what was asked. A fault
may be for PUT alone: "PUT answer lost". "hangs" holds a request until another fault is set, and then does it. "stalls"
sends half of an answer's body, and "ends" ends there. "403 AccessDenied" is that error as Amazon answers it: to HEAD
without a body, so without the code."""
NO_FAULTS = {"none": 1}
ERROR = (
    b"HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n"
    b"Content-Type: application/xml\r\nContent-Length: 62\r\n\r\n"
    b"<Error><Code>InternalError</Code><Message>no</Message></Error>"
)
ALL_OF_HEAD = b"\r\n\r\n"


def error_of_s3(status: str, code: str, method: str) -> bytes:
    """An answer of S3 that refuses a request (Error Responses in its documentation)."""
    body = "" if method == "HEAD" else f"<Error><Code>{code}</Code><Message>{code}.</Message></Error>"
    head = f"HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n{body}".encode()


class FaultyProxy:
    """One connection for each request. ``faults`` may be changed while it runs, and ``honours``: if that is false, a
    conditional PUT overwrites, as in a store that does not know the condition."""

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        self._random = random.Random(seed)
        self.faults = NO_FAULTS
        self.honours = True
        self.endpoint = ""
        self.met: Counter[str] = Counter()
        self.requests: list[tuple[str, str, bool]] = []
        """Method, path, and whether it held the condition."""

    async def serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        async with server:
            await server.serve_forever()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(ALL_OF_HEAD)).decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.pop("expect", ""):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ", 2)
        self.requests.append((method, path, headers.get("if-none-match") == "*"))
        if not self.honours and headers.get("if-none-match"):
            # The condition is part of what is signed, and cannot be taken off.
            await asyncio.to_thread(self._store.request, "DELETE", unquote(path.partition("?")[0]))
        headers["connection"] = "close"
        (fault,) = self._random.choices([*self.faults], [*self.faults.values()])
        if fault.startswith("PUT "):
            fault = fault.removeprefix("PUT ") if method == "PUT" else "none"
        self.met[fault] += 1
        if fault == "request lost":
            return
        while fault == "hangs" and "hangs" in self.faults:
            await asyncio.sleep(0.05)
        if fault[0].isdigit() and fault.split()[0] not in ("60", "500"):
            status, _, code = fault.partition(" ")
            writer.write(error_of_s3(status, code, method))
            await writer.drain()
            return
        if fault == "60 ms":
            await asyncio.sleep(0.06)
        head = "\r\n".join((first, *(f"{name}: {value}" for name, value in headers.items())))
        answer = ERROR if fault == "500 before" else await self._asked(head.encode("latin-1") + ALL_OF_HEAD + body)
        if fault in ("stalls", "ends"):
            answer = answer[: -(len(answer.partition(ALL_OF_HEAD)[2]) // 2) or None]
        if fault != "answer lost":
            writer.write(ERROR if fault == "500 after" else answer)
            await writer.drain()
        while fault == "stalls" and "stalls" in self.faults:
            await asyncio.sleep(0.05)

    async def _asked(self, request: bytes) -> bytes:
        place = urlsplit(self._store.endpoint)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            writer.write(request)
            return await reader.read()
        finally:
            writer.close()


@contextmanager
def faulty(store: Store, seed: int) -> Iterator[FaultyProxy]:
    """A running proxy before ``store``."""
    proxy = FaultyProxy(store, seed)
    ready, loop = threading.Event(), asyncio.new_event_loop()

    def run() -> None:
        task = loop.create_task(proxy.serve(ready))
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join(10)
