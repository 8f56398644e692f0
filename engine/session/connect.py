"""Open a session on Spark: on the embedded server, on a named Connect server, or a session you have."""

from __future__ import annotations

import contextlib
import getpass
import threading
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from engine.model.errors import EngineError, UnreachableError, UsageError
from engine.session import confs as settings
from engine.session.failures import condition_of, connect_error, first_line
from engine.session.home import default_home, prepare_home
from engine.session.jars import Progress
from engine.session.leases import drop_lease, forget_session, left_sessions, note_session, take_lease
from engine.session.server import STOP_HINT, start_server
from engine.session.state import ServerInfo
from engine.spark.confs import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Session", "TaskProgress", "connect"]

_FIRST_CALL_EMBEDDED = 60.0  # a cold JVM on a busy machine
_FIRST_CALL_REMOTE = 12.0
_PATIENCE_EMBEDDED = 8.0  # on top of that: it is on this machine, and known to be alive
_PATIENCE_REMOTE = 45.0  # a VPN that comes back
_RELEASE = 5.0
_ALIVE = 5.0

#: Set on every session that the engine makes: a session id that is given but does not carry it is one
#: that the server had forgotten and has just made anew.
_MARK = "deltamerge.session"

_START_HINT = "Start it, or check --remote sc://HOST:PORT."
_DOWN_HINT = "Run `deltamerge-console server start`, or look into its log."


@dataclass(frozen=True)
class TaskProgress:
    """How far one query is: tasks and stages (done, in all), tasks running, bytes read so far."""

    operation_id: str
    tasks_done: int
    tasks: int
    running: int
    stages_done: int
    stages: int
    bytes_read: int
    done: bool


def connect(
    target: str | SparkSession,
    *,
    home: Path | None = None,
    confs: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
) -> Session:
    """Open a session.

    ``target``: a master (``local[*]``, ``local[2]``, ``spark://…``, ``yarn``, ``k8s://…``) for the embedded
    server of ``home``, started if need be; ``sc://host:port/;token=…`` for a Connect server you name; or a
    SparkSession, used as it is and never closed here. ``confs`` are set on the session; static ones must
    agree with the embedded server's (EngineError ``STATIC_CONF``). ``progress`` hears short lines while a
    server starts. ``session_id`` (a UUID) and ``user_id`` attach to a session opened before, by any process;
    ``Session.resumed`` tells whether it was still there.

    Raises UnreachableError when Spark cannot be reached or refuses the token, UsageError for a target or
    session id that is none.
    """
    given = dict(confs or {})
    if not isinstance(target, str):
        return Session._adopted(target, given)
    if session_id is not None:
        try:
            session_id = str(uuid.UUID(session_id))
        except ValueError as error:
            message = f"{session_id!r} is not a session id."
            raise UsageError("BAD_SESSION_ID", message, "It is a UUID.") from error
    if target.startswith("sc://"):
        return _Remote(target, user_id).open(given, session_id)
    if not settings.is_local(target) and not target.startswith(("spark://", "yarn", "k8s://")):
        raise UsageError(
            "BAD_TARGET",
            f"{target!r} is neither a Spark master nor a Spark Connect address.",
            "Use local[*], spark://HOST:PORT, yarn, k8s://… (--master) or sc://HOST:PORT (--remote).",
        )
    place = prepare_home(home or default_home())
    return _Embedded(place, target, user_id).open(given, session_id, progress)


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
        opener: _Embedded | _Remote | None,
        server: ServerInfo | None = None,
        resumed: bool = False,
        owned: bool = True,
    ) -> None:
        self.spark = spark
        self.endpoint = endpoint
        self.session_id = session_id
        self.user_id = user_id
        self.embedded = server is not None
        self.server = server
        self.resumed = resumed
        self._opener = opener
        self._owned = owned
        self._closed = False
        self._lock = threading.Lock()

    @classmethod
    def _adopted(cls, spark: SparkSession, confs: Mapping[str, str]) -> Session:
        client = getattr(spark, "client", None) if is_connect(spark) else None
        session = cls(
            spark,
            endpoint=f"sc://{client.host}" if client is not None else "classic",
            session_id=getattr(spark, "session_id", None) if client is not None else None,
            user_id=getattr(client, "_user_id", None),
            opener=None,
            owned=False,
        )
        session.set_confs({**settings.SESSION_DEFAULTS, **confs})
        return session

    @property
    def is_connect(self) -> bool:
        """Whether it is a Spark Connect session (else a classic one)."""
        return is_connect(self.spark)

    def new_session(self, confs: Mapping[str, str] | None = None) -> Session:
        """Another, isolated session on the same server: one for each open merge. Close it yourself."""
        given = dict(confs or {})
        if self._opener is not None:
            return self._opener.open(given, None)
        if self.is_connect:
            clone: Any = self.spark
            twin = Session._adopted(clone.cloneSession(), given)
        else:
            twin = Session._adopted(self.spark.newSession(), given)
        twin._owned = twin.is_connect
        return twin

    def attach(self, session_id: str, user_id: str | None) -> Session | None:
        """The other session of that name on the same server, made by any process; None where it is gone.

        ``close(keep=True)`` leaves it there.
        """
        if self._opener is None:
            return None
        try:
            found = self._opener.open({}, session_id, user_id=user_id)
        except UnreachableError as error:
            if error.condition != "SESSION_GONE":
                raise
            return None
        if found.resumed:
            return found
        found.close()
        return None

    def keep(self) -> None:
        """From now on it is to outlive this process, however that ends: see ``close(keep=True)``."""
        if isinstance(self._opener, _Embedded) and self.session_id is not None:
            self._opener.forget(self.session_id)

    def close_left_behind(self, but: Collection[str] = ()) -> None:
        """Close the sessions that killed clients left on the embedded server, those of the ids ``but`` excepted."""
        if isinstance(self._opener, _Embedded):
            self._opener.close_left_behind(but)

    def is_busy(self) -> bool:
        """Whether something of it still runs on the server, whoever sent it. False for a classic session."""
        if not self.is_connect:
            return False
        from engine.session.channel import is_busy

        return is_busy(self.spark)

    def set_confs(self, confs: Mapping[str, str]) -> None:
        """Set runtime settings on this session. EngineError ``STATIC_CONF`` for one that is not."""
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
        spark = self.spark
        try:
            if self.is_connect:
                from engine.session.channel import bounded

                bounded(lambda: _touch(spark), _ALIVE, on_timeout=lambda: None)
            else:
                _touch(spark)
        except Exception:
            return False
        return True

    def interrupt_tag(self, tag: str) -> bool:
        """Cancel what runs in this session under ``tag`` (see ``spark.addTag``); False when nothing did."""
        return bool(self.spark.interruptTag(tag))

    def on_progress(self, handler: Callable[[TaskProgress], None]) -> Callable[[], None]:
        """Call ``handler`` (in the thread that waits for the query) as queries of this session go on.

        Returns a function that ends it. Classic sessions tell nothing.
        """
        if not self.is_connect:
            return lambda: None

        def listen(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
            found = list(stages or ())
            handler(
                TaskProgress(
                    operation_id=operation_id or "",
                    tasks_done=sum(stage.num_completed_tasks for stage in found),
                    tasks=sum(stage.num_tasks for stage in found),
                    running=inflight_tasks,
                    stages_done=sum(1 for stage in found if stage.done),
                    stages=len(found),
                    bytes_read=sum(stage.num_bytes_read for stage in found),
                    done=done,
                )
            )

        spark: Any = self.spark
        spark.registerProgressHandler(listen)
        return lambda: spark.removeProgressHandler(listen)

    def close(self, *, keep: bool = False) -> None:
        """Close it; never the server. ``keep`` leaves the session on the server (its frozen source, its
        views), to be attached to again by ``session_id`` and ``user_id`` until it times out.

        A session that was given to :func:`connect` is left alone.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        try:
            if self._owned:
                self._close_client(keep)
        finally:
            if isinstance(self._opener, _Embedded):
                self._opener.closed(self.session_id or "")

    def _close_client(self, keep: bool) -> None:
        from engine.session import channel

        spark: Any = self.spark
        gone = self.server is not None and not self.server.is_running()
        if keep or gone:
            channel.detach(spark)
        else:
            channel.release(spark, _RELEASE)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session({self.endpoint}, session_id={self.session_id})"


class _Remote:
    """Opens sessions on a Connect server that somebody else runs."""

    def __init__(self, url: str, user_id: str | None) -> None:
        self._url = url
        self._user_id = user_id

    def open(self, confs: Mapping[str, str], session_id: str | None, *, user_id: str | None = None) -> Session:
        return _open(
            self._url,
            confs,
            session_id=session_id,
            user_id=user_id or self._user_id,
            opener=self,
            server=None,
            seconds=_FIRST_CALL_REMOTE,
            patience=_PATIENCE_REMOTE,
        )


class _Embedded:
    """Opens sessions on the embedded server of a home, and starts it again when it is gone."""

    def __init__(self, home: Path, master: str, user_id: str | None) -> None:
        self._home = home
        self._master = master
        self._user_id = user_id
        self._static: dict[str, str] = {}
        self._url = ""

    def open(
        self,
        confs: Mapping[str, str],
        session_id: str | None,
        progress: Progress | None = None,
        *,
        user_id: str | None = None,
    ) -> Session:
        static, runtime = settings.split_confs(confs)
        self._static |= static
        who = user_id or self._user_id or _user_name()
        mine = str(uuid.uuid4()) if session_id is None else None
        # Before the server is looked for: from then on it does not stop for idleness.
        take_lease(self._home)
        try:
            server = start_server(self._home, master=self._master, confs=self._static, progress=progress)
            self._url = f"sc://127.0.0.1:{server.port}/;token={server.token}"
            if mine is not None:
                note_session(self._home, mine, who)
            return _open(
                self._url,
                runtime,
                session_id=session_id or mine,
                user_id=who,
                opener=self,
                server=server,
                seconds=_FIRST_CALL_EMBEDDED,
                patience=_PATIENCE_EMBEDDED,
            )
        except BaseException:
            self.closed(mine or "")
            raise

    def closed(self, session_id: str) -> None:
        self.forget(session_id)
        drop_lease(self._home)

    def forget(self, session_id: str) -> None:
        forget_session(self._home, session_id)

    def close_left_behind(self, but: Collection[str]) -> None:
        from engine.session.channel import release_named

        for file, sessions in left_sessions(self._home).items():
            for session_id, user_id in sessions:
                if session_id not in but:
                    release_named(self._url, session_id, user_id, _RELEASE)
            if not any(session_id in but for session_id, _ in sessions):
                with contextlib.suppress(OSError):
                    file.unlink()


def _open(
    url: str,
    confs: Mapping[str, str],
    *,
    session_id: str | None,
    user_id: str | None,
    opener: _Embedded | _Remote,
    server: ServerInfo | None,
    seconds: float,
    patience: float,
) -> Session:
    from engine.session.quiet import quiet_environment, quiet_pyspark

    quiet_environment()
    from engine.session import channel

    quiet_pyspark()
    resumed = False

    def first_call(spark: Any) -> None:
        nonlocal resumed
        resumed = spark.conf.get(_MARK, "") == "1"
        if not resumed:
            channel.set_confs(spark, {_MARK: "1", **settings.SESSION_DEFAULTS})

    try:
        builder = channel.Channel(url, session_id=session_id, user_id=user_id)
    except Exception as error:
        raise UsageError("BAD_TARGET", first_line(error), "Use sc://HOST:PORT/;token=….") from error
    endpoint = server.endpoint if server is not None else f"sc://{builder.endpoint}"
    who = builder.userId or _user_name()
    try:
        spark: Any = channel.open_session(
            url,
            session_id=session_id,
            user_id=who,
            first_call=first_call,
            seconds=seconds,
            patience=patience,
            alive=server.is_running if server is not None else lambda: True,
        )
    except Exception as error:
        hint = _START_HINT if server is None else STOP_HINT
        raise connect_error(error, endpoint, hint) from error
    session = Session(
        spark,
        endpoint=endpoint,
        session_id=spark.session_id,
        user_id=who,
        opener=opener,
        server=server,
        resumed=resumed,
    )
    try:
        session.set_confs(confs)
    except BaseException:
        session._close_client(keep=resumed)
        raise
    return session


def _user_name() -> str:
    with contextlib.suppress(Exception):
        return getpass.getuser()
    return "deltamerge"


def _touch(spark: Any) -> None:
    spark.conf.get(_MARK, "")


def _is_refusal(error: BaseException) -> bool:
    """An answer of Spark about the setting itself, rather than a failure to reach it."""
    return type(error).__name__ in ("IllegalArgumentException", "AnalysisException", "ParseException")


def _static_error(key: str, embedded: bool) -> EngineError:
    hint = STOP_HINT if embedded else "Set it where that Spark is started."
    return EngineError("STATIC_CONF", f"{key} can only be set when Spark starts.", hint)
