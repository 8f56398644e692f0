"""Spark Connect's gRPC channel, retries and first call. Imports pyspark.sql.connect: import it late."""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import grpc
from pyspark.sql.connect.client import DefaultChannelBuilder
from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.connect.proto import base_pb2
from pyspark.sql.connect.session import SparkSession

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Channel(DefaultChannelBuilder):
    """The channel of a ``sc://`` URL, for a given session and user.

    A token over a plain channel is allowed to every loopback address, where PySpark wants the name
    ``localhost``: that name also stands for ::1, where another user's program may listen.
    """

    def __init__(self, url: str, *, session_id: str | None, user_id: str | None) -> None:
        super().__init__(url)
        for name, value in (
            (self.PARAM_SESSION_ID, session_id),
            (self.PARAM_USER_ID, user_id),
        ):
            if value is not None:
                self.set(name, value)
        self.set(self.PARAM_USER_AGENT, self.getDefault(self.PARAM_USER_AGENT, "deltamerge-console"))
        # A connection that a firewall dropped silently must be noticed while a merge runs.
        self.setChannelOption("grpc.keepalive_time_ms", 60_000)
        self.setChannelOption("grpc.keepalive_timeout_ms", 20_000)
        if self.host in _LOOPBACK:
            # gRPC would ask the company's proxy (https_proxy) for this very machine.
            self.setChannelOption("grpc.enable_http_proxy", 0)

    def toChannel(self) -> grpc.Channel:
        """The channel: plain, plain with a token (loopback only), or TLS."""
        if self.token is None or self.use_ssl or self.host not in _LOOPBACK:
            return super().toChannel()
        credentials = grpc.composite_channel_credentials(
            grpc.local_channel_credentials(), grpc.access_token_call_credentials(self.token)
        )
        return self._secure_channel(self.endpoint, credentials)


class Patience(DefaultPolicy):
    """Retry while ``alive()``; in all about ``seconds``. PySpark's own policy goes on for ten minutes."""

    def __init__(self, seconds: float, alive: Callable[[], bool]) -> None:
        retries, waited, pause = 0, 0.0, 0.05
        while waited < seconds:
            retries, waited, pause = retries + 1, waited + pause, min(pause * 4, 5.0)
        super().__init__(max_retries=retries, max_backoff=5000)
        self._alive = alive

    def can_retry(self, e: BaseException) -> bool:
        """Whether to try again after ``e``."""
        return bool(super().can_retry(e)) and self._alive()


def open_session(
    url: str,
    *,
    session_id: str | None,
    user_id: str | None,
    first_call: Callable[[SparkSession], None],
    seconds: float,
    patience: float,
    alive: Callable[[], bool],
) -> SparkSession:
    """An own Connect session at ``url`` on which ``first_call`` has succeeded within ``seconds``.

    Raises whatever the first call raises, or TimeoutError. Afterwards, calls are tried again for
    ``patience`` seconds while ``alive()``.
    """
    channel = Channel(url, session_id=session_id, user_id=user_id)
    spark = SparkSession.builder.channelBuilder(channel).create()
    client = spark.client
    _no_call_at_exit(client)
    client.set_retry_policies([Patience(1.0, alive)])
    try:
        bounded(lambda: first_call(spark), seconds, on_timeout=client.close)
    except BaseException:
        with contextlib.suppress(Exception):
            client.close()
        forget(spark)
        raise
    client.set_retry_policies([Patience(patience, alive)])
    return spark


def _no_call_at_exit(client: Any) -> None:
    """At exit PySpark calls the server for every client that was not closed, to clear a cache of machine-learning
    models. On a dead server that holds up the exit."""
    for name in ("_on_exit", "_cleanup_ml_cache", "_cleanup_ml"):  # of Spark 4.2, 4.1 and 4.0
        if registered := getattr(client, name, None):
            atexit.unregister(registered)


def bounded(call: Callable[[], None], seconds: float, *, on_timeout: Callable[[], None]) -> None:
    """Run ``call`` in a thread and wait ``seconds`` for it; TimeoutError (after ``on_timeout``) when it
    is not back by then. gRPC's own deadlines do not cover connecting, name look-ups and retries.
    """
    outcome: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, name="spark-first-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        with contextlib.suppress(Exception):
            on_timeout()
        raise TimeoutError(f"did not answer within {seconds:.0f} s")
    if outcome:
        raise outcome[0]


def release(spark: SparkSession, seconds: float) -> None:
    """Close the session on the server (its views, checkpoints, running queries go) and the channel."""
    with contextlib.suppress(Exception):
        bounded(spark.client.release_session, seconds, on_timeout=lambda: None)
    detach(spark)


def release_named(url: str, session_id: str, user_id: str, seconds: float) -> None:
    """Close a session that another process opened; do nothing if it is gone."""
    with contextlib.suppress(Exception):
        spark = SparkSession.builder.channelBuilder(Channel(url, session_id=session_id, user_id=user_id)).create()
        _no_call_at_exit(spark.client)
        spark.client.set_retry_policies([Patience(1.0, lambda: True)])
        release(spark, seconds)


def is_busy(spark: Any) -> bool | None:
    """Whether a query or command of the session still runs on the server, from any client. None: Spark cannot tell, as
    before 4.2.

    SparkConnectGetStatusHandler calls it RUNNING until its thread has ended, also after an interrupt.
    """
    if not hasattr(base_pb2, "GetStatusResponse"):
        return None
    running = base_pb2.GetStatusResponse.OperationStatus.OperationState.OPERATION_STATE_RUNNING
    return any(one.state == running for one in spark.client._get_operation_statuses().operation_statuses)


def detach(spark: SparkSession) -> None:
    """Close the channel only; the session stays on the server until it times out."""
    with contextlib.suppress(Exception):
        spark.client.close()
    forget(spark)


CLOSED: list[SparkSession] = []
"""Before Spark 4.2 a closed client closes itself again when it is collected, and waits for the threads that all clients
share: for ever, if it is one of these that collects it. So none is collected."""
WAITS_FOR_THREADS = hasattr(ExecutePlanResponseReattachableIterator, "shutdown")


def forget(spark: SparkSession) -> None:
    """Do not leave a closed session as PySpark's default or active one."""
    if WAITS_FOR_THREADS:
        CLOSED.append(spark)
    if SparkSession._default_session is spark:
        SparkSession._default_session = None
    if getattr(SparkSession._active_session, "session", None) is spark:
        SparkSession._active_session.session = None


def set_confs(spark: Any, confs: Mapping[str, str]) -> None:
    """Set runtime settings one by one; raises Spark's error for the first that it refuses."""
    for key, value in confs.items():
        spark.conf.set(key, value)
