"""``expect``: a first file of expectations, out of a table as it is."""

from __future__ import annotations

from pathlib import Path

import click

from console.cli.exits import DONE, ON_SPARK, told_codes
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import narrate
from console.cli.new_file import output_option, write_new
from console.cli.printed_help import CliCommand
from console.cli.streams import put
from console.words.visible import visible


@click.command(cls=CliCommand, epilog=told_codes(ON_SPARK))
@click.argument("table", metavar="TABLE")
@output_option("T.yml", "Write it to a new file.")
@with_invocation
def expect(invocation: Invocation, table: str, output: Path | None) -> int:
    """Print what holds of TABLE (a name or a path) now, as a file of expectations to begin with. Reads the table."""
    from engine.explore.propose_expectations import propose_expectations
    from engine.table.tables import table_sql

    table_sql(table)  # a name that is none is told before Spark is asked
    if output is not None and output.exists():
        raise click.UsageError(f"{output} is there already: name another file.")
    with narrate() as narrator, invocation.connect(narrator.say) as session:
        narrator.say(f"read {table}")
        text = propose_expectations(session.spark, table, private=invocation.private)
    if output is None:
        put(visible(text, lines=True), nl=False)
        return DONE
    write_new(output, text)
    return DONE
