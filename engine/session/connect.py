"""Open a session on Spark: on the embedded server, on a named Connect server, or a session you have."""

from __future__ import annotations

import contextlib
import getpass
import uuid
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.model.errors import EngineError, UsageError
from engine.session import confs as settings
from engine.session.failures import connect_error, first_line
from engine.session.home import default_home, prepare_home
from engine.session.jars import Progress
from engine.session.leases import drop_lease, forget_session, left_sessions, note_session, take_lease
from engine.session.server import start_server
from engine.session.session import MARK, RELEASE_SECONDS, Opener, Session, TaskProgress
from engine.session.sharing import Use, is_used
from engine.session.state import ServerInfo
from engine.session.static_confs import STOP_HINT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Session", "TaskProgress", "connect"]

_FIRST_CALL_EMBEDDED = 60.0  # a cold JVM on a busy machine
_FIRST_CALL_REMOTE = 12.0
_PATIENCE_EMBEDDED = 8.0  # on top of that: it is on this machine, and known to be alive
_PATIENCE_REMOTE = 45.0  # a VPN that comes back

_START_HINT = "Start it, or check --remote sc://HOST:PORT."


def connect(
    target: str | SparkSession,
    *,
    home: Path | None = None,
    confs: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
    store: str = "",
) -> Session:
    """Open a session.

    ``target``: a master (``local[*]``, ``local[2]``, ``spark://…``, ``yarn``, ``k8s://…``) for the embedded
    server of ``home``, started if need be; ``sc://host:port/;token=…`` for a Connect server you name; or a
    SparkSession, used as it is and never closed here. ``confs`` are set on the session; static ones must
    agree with the embedded server's (EngineError ``STATIC_CONF``). ``progress`` hears short lines while a
    server starts. ``session_id`` (a UUID) and ``user_id`` attach to a session opened before, by any process;
    ``Session.resumed`` is true if it still existed. ``store`` (``s3``, ``abfs``, ``gcs``): the embedded server reaches
    it, with jars that are downloaded once and credentials from the environment.

    Raises UnreachableError when Spark cannot be reached or refuses the token, UsageError for an invalid target or
    session id.
    """
    session_confs = dict(confs or {})
    if not isinstance(target, str):
        return Session.adopted(target, session_confs)
    if session_id is not None:
        try:
            session_id = str(uuid.UUID(session_id))
        except ValueError as error:
            message = f"{session_id!r} is not a session id."
            raise UsageError("BAD_SESSION_ID", message, "It is a UUID.") from error
    if target.startswith("sc://"):
        return _Remote(home, target, user_id).open(session_confs, session_id)
    if not settings.is_local(target) and not target.startswith(("spark://", "yarn", "k8s://")):
        raise UsageError(
            "BAD_TARGET",
            f"{target!r} is neither a Spark master nor a Spark Connect address.",
            "Use local[*], spark://HOST:PORT, yarn, k8s://… (--master) or sc://HOST:PORT (--remote).",
        )
    place = prepare_home(home or default_home())
    return _Embedded(place, target, user_id, store).open(session_confs, session_id, progress)


class _Remote(Opener):
    """Opens sessions on a Connect server that somebody else runs."""

    def __init__(self, home: Path | None, url: str, user_id: str | None) -> None:
        self._home = home
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
            home=self._home,
        )


class _Embedded(Opener):
    """Opens sessions on the embedded server of a home, and starts it again when it is gone."""

    def __init__(self, home: Path, master: str, user_id: str | None, store: str) -> None:
        self._home = home
        self._master = master
        self._store = store
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
            server = start_server(
                self._home, master=self._master, confs=self._static, progress=progress, store=self._store
            )
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
                home=self._home,
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
                if session_id not in but and not is_used(self._home, session_id):
                    release_named(self._url, session_id, user_id, RELEASE_SECONDS)
            if not any(session_id in but for session_id, _ in sessions):
                with contextlib.suppress(OSError):
                    file.unlink()


def _open(
    url: str,
    confs: Mapping[str, str],
    *,
    session_id: str | None,
    user_id: str | None,
    opener: Opener,
    server: ServerInfo | None,
    home: Path | None,
) -> Session:
    session_id = session_id or str(uuid.uuid4())
    use = None
    # who cannot tell others of a session goes without on a Spark that needs no home
    with contextlib.nullcontext() if server is not None else contextlib.suppress(EngineError):
        # before anything is asked of it: whoever closes it now waits
        use = Use(prepare_home(home or default_home()), session_id)
    try:
        return _opened(url, confs, session_id, user_id, opener, server, use)
    except BaseException:
        with use.ended() if use is not None else contextlib.nullcontext():
            raise


def _opened(
    url: str,
    confs: Mapping[str, str],
    session_id: str,
    user_id: str | None,
    opener: Opener,
    server: ServerInfo | None,
    use: Use | None,
) -> Session:
    from engine.session.quiet import quiet_environment, quiet_pyspark

    quiet_environment()
    from engine.session import channel

    quiet_pyspark()
    resumed = False

    def first_call(spark: Any) -> None:
        nonlocal resumed
        resumed = spark.conf.get(MARK, "") == "1"
        if not resumed:
            channel.set_confs(spark, {MARK: "1", **settings.SESSION_DEFAULTS})

    try:
        builder = channel.Channel(url, session_id=session_id, user_id=user_id)
    except Exception as error:
        message = f"That is no Spark Connect address: {first_line(error).replace('http://', 'sc://')}"
        hint = "Use sc://HOST:PORT; a token goes into SPARK_CONNECT_AUTHENTICATE_TOKEN."
        raise UsageError("BAD_TARGET", message, hint) from error
    endpoint = server.endpoint if server is not None else f"sc://{builder.endpoint}"
    who = builder.userId or _user_name()
    try:
        spark: Any = channel.open_session(
            url,
            session_id=session_id,
            user_id=who,
            first_call=first_call,
            seconds=_FIRST_CALL_REMOTE if server is None else _FIRST_CALL_EMBEDDED,
            patience=_PATIENCE_REMOTE if server is None else _PATIENCE_EMBEDDED,
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
        use=use,
    )
    try:
        if resumed:
            session.bring_confs(confs)
        else:
            session.set_confs(confs)
    except BaseException:
        session.close_client(keep=resumed)
        raise
    return session


def _user_name() -> str:
    with contextlib.suppress(Exception):
        return getpass.getuser()
    return "deltamerge"
