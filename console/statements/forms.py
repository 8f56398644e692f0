"""Merges that people build by hand, whole and with what must hold afterwards: a change feed, a history, a snapshot.

Each leaves out what Delta would commit without a complaint: rows without a key, rows that came twice, or came late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from console.statements.templates import TIMES, Sides, commented, quoted, wrapped
from engine.sql.names import unused

_SEQUENCES = ("seq", "sequence", "lsn", "scn", "version", "commit_ts", *TIMES)
_DELETED = ("deleted", "is_deleted", "_deleted", "tombstone", "is_tombstone")
CHANGE_TYPE = "_change_type"
"""The column of Delta's change data feed."""
_GUESS = "upper({}) IN ('D', 'DELETE')"
_OPERATIONS = dict.fromkeys(("op", "_op", "operation", "op_type"), _GUESS) | {CHANGE_TYPE: "{} = 'delete'"}
"""What a deletion fulfils, by the column that tells the operation."""
_FLAG, _TEXT = ("boolean",), ("string", "varchar", "char")
_SINCE = ("valid_from", "valid_since", "effective_from", "start_at", "start_date", "from_date")
_UNTIL = ("valid_to", "valid_until", "effective_to", "end_at", "end_date", "to_date")
_CURRENT = ("is_current", "current", "current_flag", "is_active")

# the place of a row among those of its key
_NTH: Final = "_nth_of_key"


@dataclass(frozen=True)
class Form:
    """What a form needs to know. ``target`` and ``source`` are SQL, as is ``delete``, the condition that a deletion of
    the source fulfils ("": none does); all others are names.

    ``columns`` are those that both have, () if the source is not known; ``compared`` those of them whose values Spark
    can compare, the key left out. ``sequence`` is the source's column by which one change of a row comes after another,
    "" if there is none. ``deleted`` marks a row of the target that was deleted. ``since``, ``until`` and ``current``
    are the target's columns of a history. ``guessed``: that ``delete`` is what a deletion fulfils is a guess.
    """

    target: str
    source: str
    key: tuple[str, ...] = ("id",)
    columns: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    sequence: str = ""
    delete: str = ""
    deleted: str = ""
    since: str = _SINCE[0]
    until: str = _UNTIL[0]
    current: str = _CURRENT[0]
    guessed: bool = False

    @property
    def changes(self) -> str:
        """The condition for the rows of the source that are changes: a change feed has what was before, too."""
        kept = f"{_not_null(self.key)} AND {quoted(self.sequence)} IS NOT NULL"
        is_feed = CHANGE_TYPE in self.delete.lower()
        return f"{kept} AND {CHANGE_TYPE} <> 'update_preimage'" if is_feed else kept

    @property
    def values(self) -> tuple[str, ...]:
        """The columns beside the key."""
        return tuple(name for name in self.columns if name not in self.key)

    @property
    def incomparable(self) -> tuple[str, ...]:
        return tuple(name for name in self.values if name not in self.compared)


def form_of(known: Sides) -> Form:
    """What the names of the columns say; what they do not say is left to be typed in its place."""
    of_target, of_source = (*known.common, *known.missing), (*known.common, *known.extra)
    deleted = _first(_DELETED, _of_type(_FLAG, of_target, known.types))
    operation = _first(_OPERATIONS, _of_type(_TEXT, of_source, known.source_types))
    mark = _first(_DELETED, _of_type(_FLAG, of_source, known.source_types))
    condition = _OPERATIONS.get(operation.lower(), "")
    delete = quoted(mark) if mark else condition.format(quoted(operation))
    since = _first(_SINCE, of_target)
    sequences = (since.lower(), *_SEQUENCES)
    return Form(
        target=known.target,
        source=known.source or "changes",
        key=(known.key or "id",),
        columns=known.common,
        compared=known.comparable,
        # in both tables it tells of a row of the target, too, whether a change of it is late
        sequence=_first(sequences, known.common) or _first(sequences, known.extra),
        delete=delete,
        deleted=deleted,
        since=since or _SINCE[0],
        until=_first(_UNTIL, of_target) or _UNTIL[0],
        current=_first(_CURRENT, _of_type(_FLAG, of_target, known.types)) or _CURRENT[0],
        guessed=not mark and condition == _GUESS,
    )


def _of_type(wanted: tuple[str, ...], columns: Sequence[str], types: Mapping[str, str]) -> list[str]:
    """Those of the columns that have such a type, or one that is not known."""
    return [name for name in columns if types.get(name.lower(), wanted[0]).startswith(wanted)]


def is_flag(type_: str) -> bool:
    """Whether a column of that type can mark a row as deleted."""
    return type_.lower().startswith(_FLAG)


def _first(names: Iterable[str], columns: Sequence[str]) -> str:
    there = {column.lower(): column for column in columns}
    return next((there[name] for name in names if name in there), "")


def cdc(of: Form) -> str:
    """The last change of each key, if it is later than what the target has. A deletion marks the row and keeps it: else
    a late change would insert it again."""
    of = replace(of, sequence=of.sequence or "seq")
    ordering, sequence = of.sequence, quoted(of.sequence)
    columns = [name for name in of.columns if name != of.deleted or not of.delete]
    items = [*map(quoted, columns)] or [_every_column(of)]
    if of.deleted and of.delete:
        items.append(f"coalesce({of.delete}, false) AS {quoted(of.deleted)}")
        columns += [of.deleted] if columns else []
    source = _lines(
        "(",
        "  -- the last change of each key; what has no key or no sequence is left out",
        *_first_of_each_key(of, wrapped(items), of.changes, f"{sequence} DESC"),
        ")",
    )
    missing = []
    if of.columns and ordering not in of.columns:
        missing.append(commented(f"{of.target} needs {ordering}: without it a late change is not known"))
    if of.delete and not of.deleted:
        missing.append(commented(f"{of.target} needs a column for {of.delete}: without it a deletion is an update"))
    return _lines(
        *_head(of, source),
        *missing,
        *_guess(of),
        # a row from before the column was added has no sequence yet
        *_when_matched(
            of, f"coalesce(s.{sequence} > t.{sequence}, true)", [name for name in columns if name not in of.key]
        ),
        f"WHEN NOT MATCHED THEN {_insert(columns)}",
    )


def scd1(of: Form) -> str:
    """An upsert of what differs."""
    distinct = "" if not of.columns or of.incomparable else "DISTINCT "
    source = _lines(
        "(",
        "  -- a row that came twice is one; a row without a key is left out",
        f"  SELECT {distinct}{_listed(of.columns) or '*'}",
        f"  FROM {of.source}",
        f"  WHERE {_not_null(of.key)}",
        ")",
    )
    compared = of.compared if of.columns else ("value",)
    changed = [f"t.{quoted(name)} IS DISTINCT FROM s.{quoted(name)}" for name in compared]
    return _lines(
        *_head(of, source),
        *_incomparable(of, "is not updated"),
        *_when_matched(of, f"({wrapped(changed, by='OR')})", of.values if changed else ()),
        f"WHEN NOT MATCHED THEN {_insert(of.columns)}",
    )


def dedupe(of: Form) -> str:
    """The rows of new keys, one of each; a row is never changed."""
    which = "the newest row" if of.sequence else "any one row, ORDER BY says which,"
    order = f"{quoted(of.sequence)} DESC" if of.sequence else _listed(of.key)
    source = _lines(
        "(",
        f"  -- {which} of each key; a row without a key is left out",
        *_first_of_each_key(of, _listed(of.columns) or _every_column(of), _not_null(of.key), order),
        ")",
    )
    return _lines(*_head(of, source), f"WHEN NOT MATCHED THEN {_insert(of.columns)}")


def scd2(of: Form) -> str:
    """A version of a row for each change of its values, from the change on. A change that comes late gets its place
    between those that are there: a version is known by its key and its beginning."""
    since, until, current = quoted(of.since), quoted(of.until), quoted(of.current)
    of = replace(of, sequence=of.sequence or "changed_at")
    sequence, changes = quoted(of.sequence), of.changes
    marks = (*of.key, of.since, of.until, of.current)
    values = [name for name in of.columns or ("value",) if name not in marks]
    ordering = of.sequence.lower()
    compared = [name for name in of.compared or values if name in values and name.lower() != ordering]
    gone, rank, nth, changed = (unused(name, (*of.columns, *marks)) for name in ("_gone", "_rank", _NTH, "_changed"))
    keys, listed = _listed(of.key), _listed((*of.key, *values))
    same_key = " AND ".join(f"v.{quoted(name)} = f.{quoted(name)}" for name in of.key)
    versions = f"FROM {of.target} AS v LEFT SEMI JOIN {of.source} AS f ON {same_key}"
    state, window = f"struct({_listed(compared)})", f"OVER (PARTITION BY {keys} ORDER BY {since})"
    source = _lines(
        "(",
        commented(f"{of.until} is NULL in the version that is current"),
        "  WITH each_event AS (  -- what is there, and what the source adds: each begins a version, or ends one",
        f"    SELECT {listed},",
        f"      {since}, false AS {gone}, 1 AS {rank}",
        f"    {versions}",
        f"    UNION ALL SELECT {listed},",
        f"      {until}, true, 3",
        f"    {versions} WHERE {until} IS NOT NULL",
        f"    UNION ALL SELECT {listed},",
        f"      {sequence}, {f'coalesce({of.delete}, false)' if of.delete else 'false'}, 2",
        f"    FROM {of.source} WHERE {changes}",
        "  ), each_moment AS (  -- one at a time: what is there stays as it is",
        f"    SELECT * EXCEPT ({nth}) FROM (",
        "      SELECT *, row_number()",
        f"        OVER (PARTITION BY {keys}, {since} ORDER BY {rank}, {gone}) AS {nth}",
        "      FROM each_event",
        f"    ) WHERE {nth} = 1",
        "  ), each_change AS (  -- what repeats the values before it changes nothing",
        f"    SELECT * EXCEPT ({changed}) FROM (",
        f"      SELECT *, {rank} <> 2 OR {gone} OR lag({gone}) {window}",
        f"        OR NOT {state}",
        f"          <=> lag({state})",
        f"            {window} AS {changed}",
        "      FROM each_moment",
        f"    ) WHERE {changed}",
        "  )",
        "  SELECT * FROM (",
        f"    SELECT *, lead({since}) {window} AS {until}",
        "    FROM each_change",
        f"  ) WHERE NOT {gone}",
        ")",
    )
    names = [*of.key, *values]
    return _lines(
        *_head(of, source, (*of.key, of.since)),
        *_incomparable(of, "begins no version"),
        *_guess(of),
        f"WHEN MATCHED AND NOT (t.{until} <=> s.{until})",
        f"  THEN UPDATE SET {until} = s.{until}, {current} = s.{until} IS NULL",
        f"WHEN NOT MATCHED THEN INSERT ({listed},",
        f"    {since}, {until}, {current})",
        f"  VALUES ({wrapped([f's.{quoted(name)}' for name in names])},",
        f"    s.{since}, s.{until}, s.{until} IS NULL)",
    )


FORMS: Final[dict[str, tuple[str, str, Callable[[Form], str]]]] = {
    "cdc": ("CDC apply", "the last change of each key, if it is newer; deletions are marked", cdc),
    "scd1": ("SCD type 1", "an upsert, but only rows that differ are updated", scd1),
    "scd2": ("SCD type 2", "a version of a row for each change, late ones too", scd2),
    "dedupe": ("Deduplicate and insert", "one row of each new key, the newest one", dedupe),
}
"""By name: how it is called, what it does, its SQL."""


def proposed(name: str, known: Sides) -> str:
    """The form ``name`` between two tables, what must hold afterwards as a comment below it."""
    of = form_of(known)
    return f"{FORMS[name][2](of)}\n{as_comment(expectations(name, of))}"


def as_comment(expected: str) -> str:
    """A file of expectations as a comment below its merge."""
    return _lines(*(f"-- {line}" for line in ("for expect/FILE.yml beside this file:", *expected.splitlines())))


def expectations(name: str, of: Form) -> str:
    """What must hold of the target after the form ``name``: a file of expectations (engine.expect)."""
    import yaml

    expected: list[dict[str, Any]]
    if name == "scd2":
        ends = {"current": of.current, "from": of.since, "to": of.until}
        expected = [{"history": {"key": [*of.key], **ends}}, {"not_null": [*of.key, of.since, of.current]}]
    else:
        marks = [mark for mark in (of.sequence, of.deleted if of.delete else "") if mark and name == "cdc"]
        expected = [{"unique": [*of.key]}, {"not_null": [*of.key, *marks]}]
    return yaml.safe_dump(
        {of.target: expected}, default_flow_style=None, sort_keys=False, allow_unicode=True, width=1 << 30
    )


def _head(of: Form, source: str, key: Sequence[str] = ()) -> list[str]:
    on = " AND ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in key or of.key)
    return [f"MERGE INTO {of.target} AS t", f"USING {source.rstrip()} AS s", f"ON {on}"]


def _when_matched(of: Form, condition: str, names: Sequence[str]) -> list[str]:
    if of.columns and not names:
        return [commented(f"beside {', '.join(of.key)} both have no column to compare and update")]
    return [f"WHEN MATCHED AND {condition}", f"  THEN {_update(names)}"]


def _update(names: Sequence[str]) -> str:
    if not names:
        return "UPDATE SET *"
    return "UPDATE SET " + wrapped([f"{quoted(name)} = s.{quoted(name)}" for name in names])


def _insert(names: Sequence[str]) -> str:
    if not names:
        return "INSERT *"
    return f"INSERT ({_listed(names)})\n  VALUES ({wrapped([f's.{quoted(name)}' for name in names])})"


def _incomparable(of: Form, so: str) -> list[str]:
    if not of.incomparable or not of.columns:
        return []
    return [commented(f"{', '.join(of.incomparable)} cannot be compared: what differs there alone {so}")]


def _guess(of: Form) -> list[str]:
    return [commented(f"that {of.delete} is a deletion is a guess: look at the values")] if of.guessed else []


def _not_null(names: Sequence[str]) -> str:
    return " AND ".join(f"{quoted(name)} IS NOT NULL" for name in names)


def _listed(names: Sequence[str]) -> str:
    return wrapped([quoted(name) for name in names])


def _every_column(of: Form) -> str:
    return f"* EXCEPT ({unused(_NTH, of.columns)})"


def _first_of_each_key(of: Form, items: str, where: str, order: str) -> tuple[str, ...]:
    """The lines of a query: of the source's rows ``where``, the first one of each key by ``order``. QUALIFY would be
    shorter, and came with Spark 4.2."""
    nth = unused(_NTH, of.columns)
    return (
        f"  SELECT {items} FROM (",
        "    SELECT *, row_number()",
        f"      OVER (PARTITION BY {_listed(of.key)} ORDER BY {order}) AS {nth}",
        f"    FROM {of.source}",
        f"    WHERE {where}",
        f"  ) WHERE {nth} = 1",
    )


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
