"""Whether the static settings that a launch gives are those that the running server was given."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from engine.model.errors import EngineError
from engine.model.secrets import is_secret_name, redact
from engine.session.state import ServerInfo

STOP_HINT = "Run `deltamerge-console server stop` and try again."


def sealed(confs: Mapping[str, str], key: str) -> dict[str, str]:
    """``confs`` as the state file keeps them: of a value that is or holds a secret only a keyed digest, which shows if
    another is the same."""
    return {
        name: "sealed:" + hmac.new(key.encode(), value.encode(), hashlib.sha256).hexdigest()
        if is_secret_name(name) or redact(value) != value
        else value
        for name, value in confs.items()
    }


def check_static(info: ServerInfo, static: Mapping[str, str]) -> None:
    """Raise EngineError ``STATIC_CONF`` if the server was given another value of one of ``static``, or has another.

    What was given counts first: Spark makes something else of some (extensions are joined, packages resolved).
    """
    has = {**info.effective, **info.static_confs}
    for name, value in sealed(static, info.token).items():
        if has.get(name) != value:
            raise EngineError(
                "STATIC_CONF",
                f"{name} can only be set when Spark starts; the running server has"
                f" {'nothing' if name not in has else 'another value'} there.",
                STOP_HINT,
            )
