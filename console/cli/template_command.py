"""``template``: a merge that people build by hand, as SQL, and what must hold after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.exits import DONE, ON_SPARK, told_codes
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import narrate
from console.cli.new_file import output_option, write_new
from console.cli.printed_help import CliCommand
from console.cli.streams import put
from console.statements.forms import FORMS, Form, as_comment, expectations, form_of, is_flag
from console.statements.templates import sides
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.browse import Column

OPTIONS = {
    "sequence": ("sequence", ("cdc", "scd2", "dedupe")),
    "delete": ("delete", ("cdc", "scd2")),
    "deleted": ("deleted", ("cdc",)),
    "since": ("from", ("scd2",)),
    "until": ("to", ("scd2",)),
    "current": ("current", ("scd2",)),
}
"""How an option is typed, and the forms that it belongs to."""


@click.command(cls=CliCommand, epilog=told_codes(ON_SPARK))
@click.argument("form", type=click.Choice(list(FORMS)))
@click.option("--table", required=True, metavar="T", help="Merge into it: a name or a path.")
@click.option("--source", required=True, metavar="S", help="Merge from it: a name or a path.")
@click.option("--key", metavar="COLUMN", multiple=True, help="A column of the key. May be repeated.")
@click.option("--sequence", metavar="COLUMN", help="cdc, scd2, dedupe: the source's column that orders the changes.")
@click.option("--delete", metavar="CONDITION", help="cdc, scd2: what a deletion fulfils, such as \"op = 'D'\".")
@click.option("--deleted", metavar="COLUMN", help="cdc: the target's BOOLEAN column that marks a deleted row.")
@click.option("--from", "since", metavar="COLUMN", help="scd2: the target's column for the beginning of a version.")
@click.option("--to", "until", metavar="COLUMN", help="scd2: the target's column for its end.")
@click.option("--current", metavar="COLUMN", help="scd2: the target's BOOLEAN column that marks the current version.")
@output_option("F.sql", "Write F.sql and expect/F.yml.", with_folders=True)
@with_invocation
def template(
    invocation: Invocation,
    /,
    form: str,
    table: str,
    source: str,
    output: Path | None,
    key: tuple[str, ...],
    **columns: str | None,
) -> int:
    """Print a MERGE that applies changes (cdc), keeps a history (scd2), updates what differs (scd1), or adds each row
    once (dedupe), and what must hold after it. The names of the columns say what no option says."""
    from engine.table.tables import table_columns, table_sql

    check_options(form, columns)
    names = table_sql(table), table_sql(source)  # a name that is none is told before Spark is asked
    files = () if output is None else (output, output.parent / "expect" / f"{output.stem}.yml")
    there = [str(file) for file in files if file.exists()]
    if there:
        raise click.UsageError(f"{there[0]} is there already: name another file.")
    with narrate() as narrator, invocation.connect(narrator.say) as session:
        narrator.say("read the columns of both")
        of_target, of_source = (table_columns(session.spark, name) for name in names)
    filled = fill(form, form_of(sides(names[0], of_target, names[1], of_source)), key, columns, of_target, of_source)
    texts = FORMS[form][2](filled), expectations(form, filled)
    if not files:
        put(visible(f"{texts[0]}\n{as_comment(texts[1])}", lines=True), nl=False)
        return DONE
    for file, text in zip(files, texts, strict=True):
        write_new(file, text, with_folders=True)
    return DONE


def check_options(kind: str, given: Mapping[str, str | None]) -> None:
    """Raises UsageError for an option that the form ``kind`` does not know."""
    for name, (option, forms) in OPTIONS.items():
        if given[name] is not None and kind not in forms:
            raise click.UsageError(f"--{option} belongs to {', '.join(forms)} and not to {kind}.")
    if given["deleted"] and given["delete"] == "":
        raise click.UsageError("--deleted marks deletions, and --delete '' says that there are none.")


def fill(
    kind: str,
    proposed: Form,
    key: Sequence[str],
    given: dict[str, str | None],
    of_target: Sequence[Column],
    of_source: Sequence[Column],
) -> Form:
    """The form with what was typed, each name as its table has it. Pure.

    Raises UsageError for a column that is not there, and for one that the form needs and nobody named.
    """
    in_target, in_source = ({one.name.lower(): one.name for one in columns} for columns in (of_target, of_source))
    in_both = {name: column for name, column in in_target.items() if name in in_source}

    def named(option: str, value: str | None, columns: dict[str, str], where: str, *, needed: bool = True) -> str:
        if value and value.lower() in columns:
            return columns[value.lower()]
        if not value and not needed:
            return ""
        reason = (
            f"{value} is no column of {where}: name the one that is meant with --{option}"
            if value
            else f"--{option} is missing, a column of {where}"
        )
        raise click.UsageError(f"{reason} ({', '.join(columns.values()) or 'there is none'}).")

    if not key and not in_both:
        raise click.UsageError("The two tables have no column of one name, which the key of a template has in both.")
    keys = tuple(named("key", one, in_both, "both tables") for one in key or proposed.key)
    delete = proposed.delete if given["delete"] is None else given["delete"]
    own, own_columns = ("both tables", in_both) if kind == "cdc" else ("the source", in_source)
    # rows of one key are alike in its columns: none of them orders the rows
    sequences = {name: column for name, column in own_columns.items() if name not in map(str.lower, keys)}
    proposed_sequence = proposed.sequence if proposed.sequence.lower() in sequences else ""
    result = replace(
        proposed,
        key=keys,
        compared=tuple(
            name for name in (*proposed.compared, *proposed.key) if name in proposed.columns and name not in keys
        ),
        sequence=named(
            "sequence",
            given["sequence"] or proposed_sequence,
            sequences,
            f"{own} beside the key",
            needed=kind in ("cdc", "scd2"),
        ),
        delete=delete,
        guessed=proposed.guessed and given["delete"] is None,
    )
    flags = {one.name.lower(): one.name for one in of_target if is_flag(one.type)}
    flagged = "the target with the type BOOLEAN"
    if kind == "cdc":
        deleted = given["deleted"] or proposed.deleted
        return replace(result, deleted=named("deleted", deleted, flags, flagged, needed=bool(delete)))
    if kind == "scd2":
        since = named("from", given["since"] or proposed.since, in_target, "the target")
        until = named("to", given["until"] or proposed.until, in_target, "the target")
        current = named("current", given["current"] or proposed.current, flags, flagged)
        return replace(result, since=since, until=until, current=current)
    return result
