"""What a failed call to Spark means: the driver is lost, the token was refused, the host is unknown.

Works on exceptions by the names of their classes: nothing here imports pyspark, grpc or py4j.
"""

from __future__ import annotations

import re

from engine.model.errors import EngineError, UnreachableError

#: Error conditions that say: this Connect session is not on the server any more.
_SESSION_GONE = (
    "INVALID_HANDLE.SESSION_NOT_FOUND",
    "INVALID_HANDLE.SESSION_CHANGED",
    "INVALID_HANDLE.SESSION_CLOSED",
    "NO_ACTIVE_SESSION",
)


def grpc_status(error: BaseException) -> str:
    """The gRPC status of a Spark Connect error ("UNAVAILABLE", …), or ""."""
    for name in ("_grpc_status_code", "code"):
        value = getattr(error, name, None)
        if callable(value):
            try:
                value = value()
            except Exception:
                continue
        status = getattr(value, "name", None)
        if isinstance(status, str):
            return status
    return ""


def condition_of(error: BaseException) -> str:
    """Spark's error class of an exception ("TABLE_OR_VIEW_NOT_FOUND"), or ""."""
    getter = getattr(error, "getCondition", None)
    value = getter() if callable(getter) else None
    return value if isinstance(value, str) else ""


def first_line(error: BaseException) -> str:
    """The first line of an exception's text, without the error class in brackets before it."""
    getter = getattr(error, "getMessage", None)
    text = str(getter() if callable(getter) else error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return re.sub(r"^(?:\([\w.$]+\) )?(?:\[[A-Z0-9_.]+\] )?", "", line)


def connect_error(error: BaseException, endpoint: str, hint: str) -> EngineError:
    """The error for people when the first call to ``endpoint`` failed; ``hint`` for a server that is down."""
    status, text, condition = grpc_status(error), str(error), condition_of(error)
    name, message = condition, first_line(error)
    if status in ("UNAUTHENTICATED", "PERMISSION_DENIED") or "Invalid authentication token" in text:
        name, message = "TOKEN_REFUSED", f"The Spark Connect server at {endpoint} refused the token, or wants one."
        hint = "Check the token in --remote sc://HOST:PORT/;token=… (or SPARK_CONNECT_AUTHENTICATE_TOKEN)."
    elif re.search(r"DNS resolution failed|hostname lookup error|[Nn]ame.* not (?:known|found)", text):
        name, message = "UNKNOWN_HOST", f"The host of {endpoint} is not known."
        hint = "Check --remote and your network or VPN."
    elif "WRONG_VERSION_NUMBER" in text or "Ssl handshake failed" in text:
        name, message = "NO_TLS", f"The server at {endpoint} does not speak TLS, which a token asks for."
        hint = "Leave out use_ssl=true, or reach it as sc://localhost through an ssh tunnel."
    elif status in ("UNAVAILABLE", "DEADLINE_EXCEEDED") or isinstance(error, TimeoutError):
        name, message = "SERVER_DOWN", f"Spark cannot be reached at {endpoint}: {_why(text)}."
    elif status == "UNIMPLEMENTED":
        name, message = "NOT_SPARK_CONNECT", f"What answers at {endpoint} is not a Spark Connect server."
        hint = "Check the port in --remote (15002 unless set otherwise)."
    elif condition in _SESSION_GONE:
        name = "SESSION_GONE"
        message = f"The session is not on the Spark server at {endpoint} any more."
        hint = "Open a new one: what it held (temporary views, frozen sources) is prepared again."
    else:
        return EngineError(name, message, hint)
    return UnreachableError(name, message, hint)


def _why(text: str) -> str:
    for pattern, meaning in (
        (r"Connection refused", "nothing listens there"),
        (r"Socket closed|Connection reset|recvmsg|GOAWAY", "the connection was cut"),
        (r"timed? ?out|Timeout|Deadline|did not answer", "it does not answer"),
        (r"No route to host|Network is unreachable", "there is no route to it"),
    ):
        if re.search(pattern, text, re.IGNORECASE):
            return meaning
    match = re.search(r'details = "([^"]{1,200})', text)
    return match.group(1) if match else (text.strip().splitlines() or ["no reason given"])[0][:200]
