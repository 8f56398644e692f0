"""Whether an object store answers this machine: asked beside Spark, which says nothing while it waits for one.

Spark's progress shows the tasks that end. It is the same for a store that hangs and for a task that takes long, so
the store is asked itself, by a request without credentials: any answer of it will do, a refusal too. What is said is
what was seen, and not that Spark waits for it.
"""

from __future__ import annotations

import http.client
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

PAUSE_SECONDS = 2.0
"""Between two questions."""
ANSWER_SECONDS = 10.0
"""A question that is open for so long is asked anew."""
_FORGET_SECONDS = 6.0
"""Whoever listens asks every second: what was before a pause so long is not known to have lasted."""
_ENDPOINT = "spark.hadoop.fs.s3a.endpoint"
_REGION = "spark.hadoop.fs.s3a.endpoint.region"
_PROXY = "spark.hadoop.fs.s3a.proxy.host"
_GATEWAY = (502, 503, 504)
"""What stands before a store says these while the store behind it does not answer."""


@dataclass(frozen=True)
class Silence:
    """The store at ``host`` has answered no question for ``seconds``."""

    host: str
    seconds: int


def endpoint_of(store: str, confs: Mapping[str, str]) -> str:
    """The address of the store of a server with these settings; "" if it is unknown, or reached by a proxy."""
    if store != "s3" or confs.get(_PROXY):
        return ""
    endpoint = confs.get(_ENDPOINT, "")
    if not endpoint:
        region = confs.get(_REGION, "")
        endpoint = f"https://s3.{region}.amazonaws.com" if region else "https://s3.amazonaws.com"
    endpoint = endpoint if "://" in endpoint else f"https://{endpoint}"
    try:
        place = urlsplit(endpoint)
        host = _host(endpoint)
    except ValueError:
        return ""
    return "" if not host or (place.scheme in getproxies() and not proxy_bypass(place.hostname or "")) else endpoint


def _host(endpoint: str) -> str:
    """Host and port, without the credentials that a URL may hold."""
    place = urlsplit(endpoint)
    host = place.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{place.port}" if host and place.port else host


def answers(endpoint: str) -> bool:
    """Whether anything of HTTP comes back from ``endpoint``."""
    is_plain = urlsplit(endpoint).scheme == "http"
    kind = http.client.HTTPConnection if is_plain else http.client.HTTPSConnection
    connection = kind(_host(endpoint), timeout=ANSWER_SECONDS)
    try:
        connection.request("HEAD", "/")
        answer = connection.getresponse()
        return answer.status not in _GATEWAY or answer.headers.get("x-amz-request-id") is not None
    except ssl.SSLError as error:
        # A certificate that does not please is an answer; whether to trust it is for Spark's own client.
        return not isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError)
    except (OSError, http.client.HTTPException, UnicodeError):
        return False
    finally:
        connection.close()


class StoreWatch:
    """Asks one store, by one thread at most, as long as somebody calls ``silence``."""

    def __init__(self, endpoint: str, ask: Callable[[str], bool] = answers) -> None:
        self._endpoint = endpoint
        self._host = _host(endpoint)
        self._ask = ask
        self._lock = threading.Lock()
        self._asking = False
        self._ended = 0.0
        self._since: float | None = None
        """When the first question was asked that has no answer."""

    def silence(self) -> Silence | None:
        """How long the store has not answered; None if its last answer was in time. Returns at once."""
        now = time.monotonic()
        with self._lock:
            if not self._asking and now - self._ended >= PAUSE_SECONDS:
                self._asking = True
                if self._since is None or now - self._ended > _FORGET_SECONDS:
                    self._since = now
                threading.Thread(target=self._question, name="store-watch", daemon=True).start()
            seconds = 0 if self._since is None else int(now - self._since)
        return Silence(self._host, seconds) if seconds else None

    def _question(self) -> None:
        answered = False
        try:
            answered = self._ask(self._endpoint)
        finally:
            with self._lock:
                self._asking, self._ended = False, time.monotonic()
                if answered:
                    self._since = None
