"""Keep tokens and passwords out of whatever is kept: the ledger, the log, error texts.

``redact`` masks secrets in any text; ``redact_document`` does it for JSON-like values, by the names of
their keys as well. If in doubt a text is masked, but ordinary SQL must not be touched: a merge
is full of ``t.key = s.key`` and ``SET token = s.token``, and those are columns, not secrets.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "***"

# Words that name a secret anywhere in a name.
_STRONG = r"token|passwor[dt]|passwd|passphrase|secret|credential"
# "key" alone is every second column of a merge; these are the keys that open doors.
_KEYS = (
    r"(?:access|account|api|private|signing|encryption|shared|storage|master)[._\-]?key(?:[._\-]?id)?"
    r"|sas|signature|sig|pwd|authorization"
)

_SECRET_NAME = re.compile(
    rf"(?:{_STRONG})|(?:^|[._\-])(?:{_KEYS}|key|keys)(?:$|[._\-])|(?-i:(?<=[a-z])Key)(?:$|[._\-])",
    re.IGNORECASE,
)

_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;,&'"`)}\]]+)"""
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""

# scheme://user:password@host
_USER_INFO = re.compile(r"(?P<head>\b[a-z][a-z0-9+.\-]*://[^\s/:@'\"]*:)[^\s/@'\"]+(?=@)", re.IGNORECASE)
# ;token=… and other parameters of sc:// URLs, ?password=… and &sig=… of http and jdbc ones.
_URL_PARAMETER = re.compile(
    rf"(?P<head>[;?&]\s*(?:{_STRONG}|{_KEYS}|user_pass|x-amz-[a-z\-]*|[\w\-]*(?:{_STRONG}|{_KEYS}))\s*=\s*)"
    r"[^\s;&'\"`,)]+",
    re.IGNORECASE,
)
# Confs: dotted names of two parts or more that begin as Spark's and Hadoop's do.
_CONF = re.compile(
    r"(?P<head>(?P<name>\b(?:spark|fs|hadoop|hive|javax|dfs|delta)\.[\w.\-]+)[\"'`]?\s*(?:=>|[=:])\s*)"
    rf"(?P<value>{_VALUE})",
    re.IGNORECASE,
)
# Bare names: password=x, "token": "x", API_KEY=x. Not after a dot: that is a column of an alias.
_BARE = re.compile(
    rf"(?P<head>(?<![\w.`])[\"']?(?:[A-Za-z_][\w\-]*?[_\-])?(?:{_STRONG}|{_KEYS}|user_pass)[\"']?\s*(?:=>|[=:])\s*)"
    rf"(?P<value>{_VALUE})",
    re.IGNORECASE,
)
# OPTIONS (password 'x', user 'y')
_OPTION = re.compile(
    rf"(?P<head>(?<![\w.`])[\"'`]?(?:\w*[_\-])?(?:{_STRONG}|{_KEYS})[\"'`]?\s+)(?P<value>{_QUOTED})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<head>\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/\-]{8,}=*")
# Things that are secrets by their looks: AWS key ids, GitHub and Databricks tokens, JWTs.
_LOOKS = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bdapi[0-9a-f]{32}\b"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]*"
)
# What may stand after a bare name and is no secret: a column (s.token, `token`), a function call, NULL.
_NO_SECRET = re.compile(
    r"^(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,2}|[A-Za-z_]\w*\(.*|null|true|false|:\w+|\*+)$", re.IGNORECASE
)

# A text without any of these holds nothing that the others find: that is most texts.
_HINT = re.compile(
    rf"{_STRONG}|key|sas|sig|pwd|authorization|user_pass|x-amz-|://[^/\s]*:[^/\s]*@|bearer|basic"
    r"|AKIA|ASIA|gh[pousr]_|dapi|eyJ",
    re.IGNORECASE,
)

# Keys of a document whose values map names to values: the names show what is secret.
_NAMED = ("confs", "params", "parameters", "properties")


def is_secret_name(name: str) -> bool:
    """Whether a conf, option or parameter of this name holds a secret."""
    return bool(_SECRET_NAME.search(name))


def redact(text: str) -> str:
    """``text`` with every token and password replaced by ``***``. Idempotent."""
    if not _HINT.search(text):
        return text
    text = _BEARER.sub(rf"\g<head>{MASK}", text)
    text = _USER_INFO.sub(rf"\g<head>{MASK}", text)
    text = _URL_PARAMETER.sub(rf"\g<head>{MASK}", text)
    text = _CONF.sub(_mask_conf, text)
    text = _BARE.sub(_mask_bare, text)
    text = _OPTION.sub(_mask_value, text)
    return _LOOKS.sub(MASK, text)


def redact_confs(confs: dict[str, str]) -> dict[str, str]:
    """Confs with the values of those named like secrets masked, and secrets inside the others too."""
    return {name: MASK if is_secret_name(name) else redact(value) for name, value in confs.items()}


def redact_document(document: Any) -> Any:
    """A JSON-like value with secrets masked: all of its texts, and confs, parameters and properties by
    the names in them. Its shape stays, so what was a plan remains one.
    """
    if isinstance(document, str):
        return redact(document)
    if isinstance(document, dict):
        return {
            key: redact_confs(value) if key in _NAMED and _is_text_map(value) else redact_document(value)
            for key, value in document.items()
        }
    if isinstance(document, list):
        return [redact_document(item) for item in document]
    return document


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _mask_conf(match: re.Match[str]) -> str:
    return _mask_value(match) if is_secret_name(match["name"]) else match[0]


def _mask_bare(match: re.Match[str]) -> str:
    return match[0] if _NO_SECRET.match(match["value"]) else _mask_value(match)


def _mask_value(match: re.Match[str]) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "'\"" else ""
    return f"{match['head']}{quote}{MASK}{quote}"
