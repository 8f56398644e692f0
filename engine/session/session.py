"""A session on Spark, on any server."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from engine.model.errors import EngineError, UnreachableError
from engine.session import confs as settings
from engine.session.failures import condition_of, connect_error, first_line
from engine.session.pulse import Pulse
from engine.session.sharing import Use
from engine.session.state import ServerInfo
from engine.session.static_confs import STOP_HINT
from engine.session.store_watch import Silence, StoreWatch, endpoint_of
from engine.spark.confs import is_connect, read_confs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RELEASE_SECONDS = 5.0
_ALIVE_SECONDS = 5.0
_POLL_SECONDS = 0.1

#: Set on every session that the engine makes: if a session with a given id does not carry it, the
#: server had forgotten that session and has just made a new one.
MARK = "deltamerge.session"

_DOWN_HINT = "Run `deltamerge-console server start`, or look into its log."


@dataclass(frozen=True)
class TaskProgress:
    """How far one query is: tasks (done, in all), bytes read so far."""

    tasks_done: int
    tasks: int
    bytes_read: int


class Opener:
    """Opens sessions on one server. What follows ``open`` does nothing, except for the embedded server."""

    def open(self, confs: Mapping[str, str], session_id: str | None, *, user_id: str | None = None) -> Session:
        """Open a new session, or attach to ``session_id``."""
        raise NotImplementedError

    def forget(self, session_id: str) -> None:
        """That session is closed, or it outlives this process."""

    def closed(self, session_id: str) -> None:
        """That session is closed, and this process uses the server once less."""

    def close_left_behind(self, but: Collection[str]) -> None:
        """Close the sessions of killed processes, except those of the ids ``but``."""


class Session:
    """One isolated session on Spark (its own settings, temporary views, frozen sources).

    ``spark`` is the SparkSession; ``endpoint`` its address without token ("classic" for a session that is
    no Connect one); ``session_id`` and ``user_id`` name it for :func:`connect` in another process (None on
    classic); ``embedded`` whether it is on our own server; ``resumed`` whether it existed before; ``server``
    the embedded server. Use it in a ``with`` statement, or call :meth:`close`.
    """

    def __init__(
        self,
        spark: SparkSession,
        *,
        endpoint: str,
        session_id: str | None,
        user_id: str | None,
        opener: Opener | None,
        server: ServerInfo | None = None,
        resumed: bool = False,
        use: Use | None = None,
    ) -> None:
        self.spark = spark
        self.endpoint = endpoint
        self.session_id = session_id
        self.user_id = user_id
        self.embedded = server is not None
        self.server = server
        self.resumed = resumed
        self._opener = opener
        self._use = use
        self._turn = threading.Lock()
        self._brought: dict[str, str] = {}
        self._owned = opener is not None
        self._closed = False
        self._lock = threading.Lock()
        self._pulse = Pulse(lambda: _touch(spark))
        endpoint_of_store = endpoint_of(server.store, server.effective) if server is not None else ""
        self._store_watch = StoreWatch(endpoint_of_store) if endpoint_of_store else None

    @classmethod
    def adopted(cls, spark: SparkSession, confs: Mapping[str, str]) -> Session:
        client = getattr(spark, "client", None) if is_connect(spark) else None
        session = cls(
            spark,
            endpoint=f"sc://{client.host}" if client is not None else "classic",
            session_id=getattr(spark, "session_id", None) if client is not None else None,
            user_id=getattr(client, "_user_id", None),
            opener=None,
        )
        session.set_confs({**settings.SESSION_DEFAULTS, **confs})
        return session

    @property
    def is_connect(self) -> bool:
        """Whether it is a Spark Connect session (else a classic one)."""
        return is_connect(self.spark)

    def new_session(self, confs: Mapping[str, str] | None = None) -> Session:
        """Another, isolated session on the same server: one for each open merge. Close it yourself."""
        session_confs = dict(confs or {})
        if self._opener is not None:
            return self._opener.open(session_confs, None)
        if self.is_connect:
            clone: Any = self.spark
            twin = Session.adopted(clone.cloneSession(), session_confs)
        else:
            twin = Session.adopted(self.spark.newSession(), session_confs)
        twin._owned = twin.is_connect
        return twin

    def attach(self, session_id: str, user_id: str | None) -> Session | None:
        """The session of that id on the same server, made by any process; None if it is gone.

        ``close(keep=True)`` leaves it there.
        """
        if self._opener is None:
            return None
        try:
            session = self._opener.open({}, session_id, user_id=user_id)
        except UnreachableError as error:
            if error.condition != "SESSION_GONE":
                raise
            return None
        if session.resumed:
            return session
        session.close()
        return None

    def keep(self) -> None:
        """From now on the session outlives this process, even if that is killed: see ``close(keep=True)``."""
        if self._opener is not None and self.session_id is not None:
            self._opener.forget(self.session_id)

    def close_left_behind(self, but: Collection[str] = ()) -> None:
        """Close the sessions that killed clients left on the embedded server, except those of the ids ``but``."""
        if self._opener is not None:
            self._opener.close_left_behind(but)

    def is_busy(self) -> bool | None:
        """Whether something of it still runs on the server, from any client; None where Spark cannot tell, as before
        4.2. False for a classic session."""
        if not self.is_connect:
            return False
        from engine.session.channel import is_busy

        return is_busy(self.spark)

    def set_confs(self, confs: Mapping[str, str]) -> None:
        """Set runtime settings on this session. EngineError ``STATIC_CONF`` for a static one."""
        for key, value in confs.items():
            try:
                self.spark.conf.set(key, value)
            except Exception as error:
                condition = condition_of(error)
                if "CANNOT_MODIFY" in condition:
                    raise _static_error(key, self.embedded) from error
                if not condition and not _is_refusal(error):
                    raise connect_error(error, self.endpoint, _DOWN_HINT) from error
                raise EngineError(
                    condition or "CONF_REFUSED",
                    f"Spark refuses {key}={value}: {first_line(error)}",
                    "Correct --conf.",
                ) from error

    def is_alive(self) -> bool:
        """Whether the session answers, within a few seconds. Also keeps it from idling out."""
        if self._closed:
            return False
        if self.server is not None and not self.server.is_running():
            return False
        return self._pulse.beats(_ALIVE_SECONDS)

    def store_silence(self) -> Silence | None:
        """How long the object store of the embedded server has not answered this machine; None if it answers, or if
        there is none that is known. Asks it from time to time while somebody calls this; returns at once."""
        return self._store_watch.silence() if self._store_watch is not None else None

    def interrupt_tag(self, tag: str) -> bool:
        """Cancel what runs in this session under ``tag`` (see ``spark.addTag``); False when nothing did."""
        return bool(self.spark.interruptTag(tag))

    @contextlib.contextmanager
    def turn(self, waits: Callable[[], object]) -> Iterator[None]:
        """Work in the session while nobody else of this home does: each work sets confs of it for its statements, and
        puts back what it found. Calls ``waits`` again and again while another one works; what that raises ends the
        waiting."""
        with self._use.turn(waits) if self._use is not None else self._turn_of_threads(waits), self._with_brought():
            yield

    @contextlib.contextmanager
    def _turn_of_threads(self, waits: Callable[[], object]) -> Iterator[None]:
        while not self._turn.acquire(timeout=_POLL_SECONDS):
            waits()
        try:
            yield
        finally:
            self._turn.release()

    def bring_confs(self, confs: Mapping[str, str]) -> None:
        """Set them in each turn alone: the session is another's, too."""
        self._brought = dict(confs)

    @contextlib.contextmanager
    def _with_brought(self) -> Iterator[None]:
        before = read_confs(self.spark, self._brought) if self._brought else {}
        others = {key: value for key, value in self._brought.items() if before.get(key) != value}
        try:
            self.set_confs(others)
            yield
        finally:
            for key in others:
                with contextlib.suppress(Exception):  # of a Spark that does not answer nothing stays
                    if key in before:
                        self.spark.conf.set(key, before[key])
                    else:
                        self.spark.conf.unset(key)

    def on_progress(self, handler: Callable[[TaskProgress], None]) -> Callable[[], None]:
        """Call ``handler`` (in the thread that waits for the query) as queries of this session go on.

        Returns a function that ends it. Classic sessions have no progress.
        """
        if not self.is_connect:
            return lambda: None

        # Spark calls it by names
        def listen(stages: Any, **_: object) -> None:
            parts = list(stages or ())
            handler(
                TaskProgress(
                    tasks_done=sum(stage.num_completed_tasks for stage in parts),
                    tasks=sum(stage.num_tasks for stage in parts),
                    bytes_read=sum(stage.num_bytes_read for stage in parts),
                )
            )

        spark: Any = self.spark
        spark.registerProgressHandler(listen)
        return lambda: spark.removeProgressHandler(listen)

    def close(self, *, keep: bool = False, under_others: bool = False) -> None:
        """Close it; never the server, nor, unless ``under_others``, a session that another one of this home has open.
        ``keep`` leaves the session on the server (its frozen source, its views), to be attached to again by
        ``session_id`` and ``user_id`` until it times out.

        A session that was given to :func:`connect` is left alone.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        try:
            with self._use.ended() if self._use is not None else contextlib.nullcontext(True) as is_last:
                if self._owned:
                    self.close_client(keep or not (is_last or under_others))
        finally:
            if self._opener is not None:
                self._opener.closed(self.session_id or "")

    def close_client(self, keep: bool) -> None:
        """Close the channel, and the session too unless ``keep``."""
        from engine.session import channel

        spark: Any = self.spark
        is_gone = self.server is not None and not self.server.is_running()
        if keep or is_gone:
            channel.detach(spark)
        else:
            channel.release(spark, RELEASE_SECONDS)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session({self.endpoint}, session_id={self.session_id})"


def _touch(spark: Any) -> None:
    spark.conf.get(MARK, "")


def _is_refusal(error: BaseException) -> bool:
    """An answer of Spark about the setting itself, rather than a failure to reach it."""
    return type(error).__name__ in ("IllegalArgumentException", "AnalysisException", "ParseException")


def _static_error(key: str, embedded: bool) -> EngineError:
    hint = STOP_HINT if embedded else "Set it where that Spark is started."
    return EngineError("STATIC_CONF", f"{key} can only be set when Spark starts.", hint)
