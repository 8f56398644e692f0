"""``tables`` and ``describe``: what there is to merge into."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from console.cli.completion import files
from console.cli.exits import DONE, ON_SPARK, told_codes
from console.cli.invocation import Invocation, with_invocation
from console.cli.listening import Listening
from console.cli.narrator import narrate
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, print_json, put, show
from console.words import column_sentences
from console.words.format import local_time, number, size
from console.words.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from console.words.glyphs import Glyphs
    from engine.model.browse import TableDetail, TableRef, TableVersion
    from engine.session.connect import Session

VERSIONS = 5


@click.command(cls=CliCommand, epilog=told_codes(ON_SPARK))
@click.argument("pattern", required=False, shell_complete=files)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_invocation
def tables(invocation: Invocation, pattern: str | None, as_json: bool) -> int:
    """List tables. PATTERN is of names (sales.*, *orders*), or a directory to search for Delta tables;
    its folders whose name begins with . or _ are passed over."""
    with narrate() as narrator, invocation.connect(narrator.say) as session, Listening(session, narrator):
        found = _found(session, pattern)
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
    elif found:
        show(_list(found, glyphs()))
    else:
        put(_none(pattern))
    return DONE


def _none(pattern: str | None) -> str:
    from engine.table.tables import MAX_DEPTH, is_path

    if pattern is None:
        return "No table."
    if not is_path(pattern):
        of_schema = "" if "." in pattern or "*" in pattern else f" The tables of a schema: {visible(pattern)}.*"
        return f"No table is like {visible(pattern)}; views are not listed.{of_schema}"
    left_out = f"Folders whose name begins with . or _, and those more than {MAX_DEPTH} levels down, are not searched."
    return f"No Delta table was found in {visible(pattern)}. {left_out}"


def _found(session: Session, pattern: str | None) -> list[TableRef]:
    from engine.table import tables as engine_tables

    if pattern is not None and engine_tables.is_path(pattern):
        return engine_tables.find_tables(session.spark, pattern)
    schemas = engine_tables.list_schemas(session.spark)
    own = f"{engine_tables.current_catalog(session.spark).lower()}."
    wanted = "*" if pattern is None else pattern.lower().replace("`", "").removeprefix(own)
    found = [
        one
        for schema in schemas
        if _may_hold(schema.lower().replace("`", ""), wanted)
        for one in engine_tables.list_tables(session.spark, schema)
    ]
    return [one for one in found if _is_like(one, wanted)]


def _may_hold(schema: str, wanted: str) -> bool:
    """Whether a table of that schema may be like ``wanted``: a schema that cannot is not asked."""
    inside, dot, _ = wanted.rpartition(".")
    return not dot or fnmatchcase(schema, inside) or "*" in inside


def _is_like(one: TableRef, wanted: str) -> bool:
    name = one.name.replace("`", "").lower()
    return fnmatchcase(name, wanted) or fnmatchcase(one.table.lower(), wanted)


def _list(found: list[TableRef], signs: Glyphs) -> RenderableType:
    from rich.text import Text

    from console.cli.view_plan import table

    rows = table("table", "format")
    for one in found:
        kind = {True: f"{signs.ok} delta", False: "not Delta", None: "?"}[one.is_delta]
        rows.add_row(Text(visible(one.name)), kind)
    return rows


@click.command(cls=CliCommand, epilog=told_codes(ON_SPARK))
@click.argument("table", metavar="TABLE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_invocation
def describe(invocation: Invocation, table: str, as_json: bool) -> int:
    """Describe TABLE (a name or a path): its size, layout, columns and newest versions."""
    from engine.table import tables as engine_tables

    engine_tables.table_sql(table)  # a name that is none is told before Spark is asked
    with narrate() as narrator, invocation.connect(narrator.say) as session, Listening(session, narrator):
        detail = engine_tables.table_detail(session.spark, table)
        wants_versions = detail.is_delta and not as_json
        versions = engine_tables.table_versions(session.spark, table, VERSIONS) if wants_versions else []
    if as_json:
        print_json(detail.model_dump(mode="json"))
    else:
        show(*_detail(detail, versions))
    return DONE


def _columns(one: TableDetail) -> RenderableType:
    from rich.text import Text

    from console.cli.view_plan import table

    has_values = any(map(column_sentences.value, one.columns))
    rows = table("column", "type", "", *(("value",) if has_values else ()), "comment")
    for column in one.columns:
        marks = ("" if column.nullable else "not null ") + ("partition" if column.is_partition else "")
        values = (Text(column_sentences.value(column)),) if has_values else ()
        rows.add_row(Text(visible(column.name)), visible(column.type), marks, *values, Text(visible(column.comment)))
    return rows


def _detail(one: TableDetail, versions: list[TableVersion]) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from console.cli.view_plan import BOLD, facts, table

    version = f" @ v{one.version}" if one.version is not None else ""
    parts: list[RenderableType] = [
        Text(f"{visible(one.name)}{version}", BOLD),
        facts(
            {
                "format": one.format,
                "files": f"{number(one.num_files)}, {size(one.num_bytes)}" if one.is_delta else "",
                "path": one.path,
                "id": one.table_id,
                "modified": local_time(one.last_modified, zone=True) if one.last_modified else "",
                "partitioned by": ", ".join(one.partition_columns),
                "clustered by": ", ".join(one.clustering_columns),
                "features": ", ".join(one.features),
                "about": one.description,
            }
        ),
    ]
    if one.properties:
        # names of others, which may be those of the facts above
        parts += ["", Text("Properties", BOLD), Padding(facts(one.properties), (0, 0, 0, 2))]
    parts.append("")
    parts.append(Padding(_columns(one), (0, 0, 0, 2)))
    if versions:
        users = ("by",) if any(each.user for each in versions) else ()
        rows = table("version", "when", "operation", *users, right=("version",))
        for each in versions:
            by = [Text(visible(each.user)) for _ in users]
            rows.add_row(f"v{each.version}", local_time(each.timestamp), visible(each.operation), *by)
        parts += ["", Padding(rows, (0, 0, 0, 2))]
    return parts
