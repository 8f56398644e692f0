"""Files of YAML → the expectations of tables. What is wrong is told with its line and column.

demo.orders:
  - unique: [order_id]
  - accepted: {status: [paid, refunded]}
    severity: warn
  - name: paid_is_positive
    sql: SELECT * FROM after WHERE status = 'paid' AND amount <= 0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import yaml
from pydantic import ValidationError

from engine.expect.expectation import Expectation, parts_of
from engine.model.errors import InputFileError, UsageError

HINT: Final = "Correct the file; the reference page of expectations shows each kind."
FOLDER: Final = "expect"
"""The folder that is read where none is named: beside a file of SQL, and in the home."""
ENDINGS: Final = (".yml", ".yaml")
MAX_BYTES: Final = 1 << 20
A_LIST, A_MAPPING, A_NUMBER = "a list is wanted: [a, b]", "a mapping is wanted: {a: b}", "a number is wanted"
WANTED: Mapping[str, str] = MappingProxyType(
    {
        "tuple_type": A_LIST,
        "dict_type": A_MAPPING,
        "model_type": A_MAPPING,
        "model_attributes_type": A_MAPPING,
        "decimal_parsing": A_NUMBER,
    }
)
"""What stands in the place of a value of another kind, by the type of pydantic's error."""


@dataclass(frozen=True)
class Declared:
    """An expectation and where it stands: ``table`` in the parts of its name, ``line`` and ``column`` from 1."""

    table: tuple[str, ...]
    expectation: Expectation
    file: str = ""
    line: int = 1
    column: int = 1

    def error(self, condition: str, what: str, hint: str = HINT) -> UsageError:
        """What is wrong with it, to be raised."""
        place = f"{self.file}, line {self.line}: " if self.file else ""
        return InputFileError(
            condition, f"{place}{self.expectation.name}: {what}", hint, line=self.line, column=self.column
        )


def read_files(paths: Iterable[Path | str]) -> tuple[Declared, ...]:
    """The expectations in the files, and in those of the folders that end in .yml or .yaml.

    One that two files have alike is one. Raises UsageError: ``FILE_NOT_READ``, or ``BAD_EXPECTATIONS`` for what is not
    right in a file.
    """
    files = [file for path in paths for file in _files(Path(path))]
    declared = [one for file in files for one in read_expectations(_text(file), str(file))]
    seen: dict[tuple[object, ...], Declared] = {}
    for one in declared:
        key = (tuple(part.lower() for part in one.table), one.expectation.name.lower())
        first = seen.setdefault(key, one)
        # a proposal and a template for one table both write that its key is unique
        if first is not one and (first.file == one.file or first.expectation != one.expectation):
            where = f"{first.file}, line {first.line}" if first.file != one.file else f"line {first.line}"
            raise one.error(
                "BAD_EXPECTATIONS", f"{where} has an expectation of that name already.", "Give one another name."
            )
    return tuple(seen.values())


def read_beside(file: str, home: Path) -> tuple[Declared, ...]:
    """The expectations in the folder ``expect`` beside a ``file`` of SQL ("": there is none), else in that of the home.
    Raises UsageError."""
    places = (*([Path(file).parent] if file else []), home)
    return read_files([place / FOLDER for place in places if (place / FOLDER).is_dir()][:1])


def read_expectations(text: str, name: str = "") -> Iterator[Declared]:
    """Those of one file, called ``name``. Raises UsageError ``BAD_EXPECTATIONS``."""
    # of the base loader every scalar is text: NO is a country, and 01 no number
    loader = yaml.BaseLoader(text)
    try:
        root = loader.get_single_node()
        _refuse_repeated(root, name)
        values = loader.construct_document(root) if root is not None else {}
    except (yaml.YAMLError, RecursionError) as error:
        raise _broken(error, name) from error
    finally:
        loader.dispose()
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise _wrong(root, name, "a file has tables, and below each a list of expectations")
    for (key, below), (table, entries) in zip(root.value, values.items(), strict=True):
        if not isinstance(below, yaml.SequenceNode):
            raise _wrong(below, name, f"below {table} stands a list: each expectation begins with a dash")
        parts = parts_of(table)
        if parts is None:
            raise _wrong(key, name, f"{table!r} is no name of a table")
        for node, entry in zip(below.value, entries, strict=True):
            mark = node.start_mark
            yield Declared(parts, _expectation(entry, node, name), name, mark.line + 1, mark.column + 1)


def _expectation(entry: Any, node: yaml.Node, name: str) -> Expectation:
    if not isinstance(entry, dict):
        raise _wrong(node, name, "an expectation is a kind and what it holds for, such as unique: [order_id]")
    try:
        return Expectation.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        keys = [part for part in first["loc"] if part != "[key]"]
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            message = f"{keys[-1]!r} is unknown here"
        message = WANTED.get(first["type"], message)
        where = ".".join(str(one) for one in keys if first["type"] != "extra_forbidden")
        raise _wrong(_node_at(node, keys), name, f"{where}: {message}" if where else message) from error


def _node_at(node: yaml.Node, keys: Sequence[int | str]) -> yaml.Node:
    """The deepest node below ``node`` on the way that ``keys`` name; of an entry of a mapping its key, if it ends
    there."""
    for at, key in enumerate(keys):
        below: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == str(key)]
            below = pairs[0][0 if at == len(keys) - 1 else 1] if pairs else None
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            below = node.value[key]
        if below is None:
            return node
        node = below
    return node


def _refuse_repeated(node: yaml.Node | None, name: str) -> None:
    """YAML keeps the last of two equal keys, and says nothing."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, below in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _wrong(key, name, "a key is a text")
            if key.value in seen:
                raise _wrong(key, name, f"{key.value!r} stands there twice")
            seen.add(key.value)
            _refuse_repeated(below, name)
    elif isinstance(node, yaml.SequenceNode):
        for below in node.value:
            _refuse_repeated(below, name)


def _broken(error: Exception, name: str) -> UsageError:
    mark = getattr(error, "problem_mark", None)
    what = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "it is nested too deeply")
    return _error(name, f"it is no YAML: {what}", mark)


def _wrong(node: yaml.Node, name: str, what: str) -> UsageError:
    return _error(name, what, node.start_mark)


def _error(name: str, what: str, mark: Any) -> UsageError:
    line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
    place = ", ".join(part for part in (name, f"line {line}, column {column}" if line else "") if part)
    return InputFileError("BAD_EXPECTATIONS", f"{place}: {what}.", HINT, line=line, column=column)


def _files(path: Path) -> tuple[Path, ...]:
    if not path.is_dir():
        return (path,)
    return tuple(sorted(one for one in path.iterdir() if one.suffix.lower() in ENDINGS and one.is_file()))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "FILE_NOT_READ", f"{path} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from error
    if len(data) > MAX_BYTES:
        raise UsageError("FILE_TOO_BIG", f"{path} is too big for a file of expectations.", "Split it by table.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("NOT_UTF8", f"{path} is not UTF-8.", "Save it as UTF-8 and try again.") from error
