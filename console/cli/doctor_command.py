"""``doctor``: is everything here that a merge needs? Looks only; makes nothing, and starts Spark if told to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from console.cli.exits import DONE, FAILED, REFUSED, WITHOUT_SPARK, ending, told_codes
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import narrate
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, print_json, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from console.cli.checks import Check


@click.command(cls=CliCommand, epilog=told_codes((*WITHOUT_SPARK, REFUSED)))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--spark", "with_spark", is_flag=True, help="Look at the Spark of --remote, --master or --profile too.")
@click.option("--path", metavar="PATH", help="And at a folder, a table's or any other, such as s3a://lake/orders.")
@click.option("--schema", metavar="NAME", help="And at the folder in which a schema keeps its tables.")
@click.option("--write", "writes", is_flag=True, help="Make a small table in that folder, read it and delete it again.")
@with_invocation
def doctor(
    invocation: Invocation, as_json: bool, with_spark: bool, path: str | None, schema: str | None, writes: bool
) -> int:
    """Check Java, packages, jars, home, history, server and terminal. Exit 1 if something must be mended."""
    from console.cli.checks import Place, check_all, check_session
    from engine.commit.policy import check_writable
    from engine.sql.store_paths import refuse_credentials

    place = Place(path, schema, writes) if path or schema else None
    refuse_credentials(path or "")
    if writes and place is None:
        raise click.UsageError("--write needs the folder: --path PATH, or --schema NAME.")
    if writes:
        check_writable(invocation.policy)
    checks = check_all(invocation)
    if with_spark or place:
        with narrate() as narrator:
            checks += check_session(lambda: invocation.connect(narrator.say), place)
    code = FAILED if any(check.verdict == "fail" for check in checks) else DONE
    with ending(code):
        if as_json:
            print_json([asdict(check) for check in checks])
        else:
            show(_page(checks))
    return code


def _page(checks: list[Check]) -> RenderableType:
    from rich.table import Column
    from rich.text import Text

    from console.cli.sheet import QUIET, Sheet
    from console.cli.view_plan import ERROR, OK, WARNING
    from console.words.visible import visible

    signs = glyphs()
    look = {"ok": (signs.ok, OK), "warn": (signs.warning, WARNING), "fail": (signs.error, ERROR)}
    sheet = Sheet(Column(no_wrap=True), Column(overflow="fold"), Column(overflow="fold"), show_header=False)
    for check in checks:
        sign, style = look[check.verdict]
        found = Text(visible(check.found))
        if check.hint:
            found.append(f"\n{visible(check.hint)}", QUIET)
        sheet.add_row(Text(f"{sign} {check.verdict}", style), Text(visible(check.name)), found)
    return sheet
