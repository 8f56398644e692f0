"""A CREATE TABLE as a form holds it: values → SQL text, and text → values as far as the form can say them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.statements.templates import quoted

if TYPE_CHECKING:
    from engine.model.create_values import StateColumn, TableState
    from engine.sql.parse_create import ColumnDefinition

MODES = {
    "": "CREATE TABLE",
    "if_not_exists": "CREATE TABLE IF NOT EXISTS",
    "or_replace": "CREATE OR REPLACE TABLE",
}
LAYOUTS = {"": "", "partitioned": "PARTITIONED BY", "clustered": "CLUSTER BY"}
VALUES = {"": "", "default": "DEFAULT", "generated": "GENERATED ALWAYS AS", "identity": "GENERATED ALWAYS AS IDENTITY"}
# Delta keeps these for a table by itself; a new one gets its own
_OF_ONE_TABLE = (
    "delta.columnMapping.maxColumnId",
    "delta.rowTracking.materialized",
    "delta.inCommitTimestampEnablement",
)
_DEFAULTS = "delta.feature.allowColumnDefaults"


@dataclass(frozen=True)
class FormColumn:
    """``value`` is a key of VALUES, ``expression`` its SQL text; an identity has none. ``type`` is SQL text."""

    name: str
    type: str
    nullable: bool = True
    value: str = ""
    expression: str = ""
    comment: str = ""


@dataclass(frozen=True)
class TableForm:
    """``mode`` and ``layout`` are keys of MODES and LAYOUTS.

    SQL text: ``name``, ``layout_by`` and ``properties`` (what stands in the brackets) and ``query``; the rest is plain.
    With a query the columns are those that it gives, and the form writes none.
    """

    mode: str = ""
    name: str = ""
    columns: tuple[FormColumn, ...] = ()
    layout: str = ""
    layout_by: str = ""
    properties: str = ""
    location: str = ""
    comment: str = ""
    query: str = ""


def to_sql(form: TableForm) -> str:
    """The statement, a clause a line. "" for an empty form."""
    from engine.sql.names import string

    if form == TableForm():
        return ""
    lines = [f"{MODES[form.mode]} {form.name}".rstrip()]
    if form.columns and not form.query:
        lines[0] += " ("
        lines += [f"  {_column(column)}," for column in form.columns]
        lines[-1] = lines[-1].removesuffix(",")
        lines.append(")")
    lines.append("USING delta")
    if form.layout:
        lines.append(f"{LAYOUTS[form.layout]} ({form.layout_by})")
    if form.location:
        lines.append(f"LOCATION {string(form.location)}")
    if form.comment:
        lines.append(f"COMMENT {string(form.comment)}")
    if form.properties:
        lines.append(f"TBLPROPERTIES ({form.properties})")
    if form.query:
        lines += ["AS", form.query]
    return "\n".join(lines) + "\n"


def _column(column: FormColumn) -> str:
    from engine.sql.names import string

    parts = [quoted(column.name), column.type, "" if column.nullable else "NOT NULL"]
    if column.value == "generated":
        parts.append(f"{VALUES['generated']} ({column.expression})")
    elif column.value:
        parts.append(f"{VALUES[column.value]} {column.expression}".rstrip())
    parts.append(f"COMMENT {string(column.comment)}" if column.comment else "")
    return " ".join(part for part in parts if part)


def read_form(sql: str) -> TableForm | None:
    """What a form can say of a CREATE TABLE, None of other text. ``to_sql`` gives ``sql`` again if it says all."""
    from engine.model.errors import EngineError
    from engine.sql.parse_create import parse_create

    if not sql.strip():
        return TableForm()
    try:
        parsed = parse_create(sql.strip())
    except EngineError:
        return None
    if parsed.source is not None or parsed.mode == "Replace":
        return None

    by_partition, by_cluster = (parsed.lists.get(word, "") for word in ("PARTITIONED", "CLUSTER"))
    return TableForm(
        mode="if_not_exists" if parsed.if_not_exists else "or_replace" if parsed.mode == "CreateOrReplace" else "",
        name=parsed.name,
        columns=tuple(map(_form_column, parsed.columns or ())),
        layout="partitioned" if by_partition else "clustered" if by_cluster else "",
        layout_by=by_partition or by_cluster,
        properties=parsed.lists.get("TBLPROPERTIES", ""),
        location=parsed.location or "",
        comment=parsed.comment or "",
        query=(parsed.query or "").strip(),
    )


def _form_column(one: ColumnDefinition | StateColumn) -> FormColumn:
    value, expression = "", ""
    if one.counted is not None:
        value = "identity"
    elif one.generated_as is not None:
        value, expression = "generated", one.generated_as
    elif one.default is not None:
        value, expression = "default", one.default
    return FormColumn(one.name, one.type, one.nullable, value, expression, one.comment)


def like(name: str, state: TableState) -> TableForm:
    """A form for a table like another one: its columns, layout, properties and comment, and no data of it."""
    from engine.sql.names import string

    columns = tuple(map(_form_column, state.columns))
    properties = {
        key: value for key, value in state.properties.items() if value is not None and not key.startswith(_OF_ONE_TABLE)
    }
    if any(one.value == "default" for one in columns):
        properties.setdefault(_DEFAULTS, "supported")
    by = state.partition_columns or state.clustering_columns
    return TableForm(
        name=name,
        columns=columns,
        layout="partitioned" if state.partition_columns else "clustered" if by else "",
        layout_by=", ".join(map(quoted, by)),
        properties=", ".join(f"{string(key)} = {string(value)}" for key, value in properties.items()),
        comment=state.comment,
    )


def proposed_name(name: str, ending: str) -> str:
    """A name beside ``name`` (SQL text): ``sales.orders_like``. A path gets one in the default schema."""
    if name.lower().startswith("delta.`"):
        last = "".join(sign if sign.isalnum() else "_" for sign in name.strip("`").rstrip("/").rpartition("/")[2])
        return quoted(f"{last}_{ending}")
    if name.endswith("`"):
        return f"{name[:-1]}_{ending}`"
    return f"{name}_{ending}"


def clone(name: str, version: int | None) -> str:
    """The statement that clones ``name`` (SQL text) at a version, to rehearse on: data files are shared, not copied.
    A table that is not Delta has no version (None)."""
    travel = "" if version is None else f" VERSION AS OF {version}"
    return f"CREATE TABLE {proposed_name(name, 'rehearsal')}\nSHALLOW CLONE {name}{travel}\n"
