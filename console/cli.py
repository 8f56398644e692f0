"""The command line. Data on stdout, narration on stderr; exit codes as DESIGN.md lists them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from engine.errors import EngineError

FAILED, CHANGES, USAGE = 1, 2, 64


def exit_code(error: EngineError) -> int:
    from engine import errors

    codes = (
        (errors.UnreachableError, 3),
        (errors.StalePlanError, 5),
        (errors.RefusedError, 6),
        (errors.UsageError, USAGE),
        (errors.CancelledError, 130),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), FAILED)


@click.group(invoke_without_command=True)
@click.option("--master", default="local[*]")
@click.option("--remote", default=None)
@click.option("--home", type=click.Path(path_type=Path), default=None)
@click.pass_context
def cli(context: click.Context, master: str, remote: str | None, home: Path | None) -> None:
    """Plan/apply for Delta Lake MERGE. Without a command it opens the console."""
    from engine.session.home import default_home, prepare_home

    place = prepare_home(home or default_home())
    context.obj = (remote or master, place)
    if context.invoked_subcommand is None:
        from console.app import DeltaMergeApp
        from console.spark_backend import SparkBackend

        DeltaMergeApp(SparkBackend(remote or master, place), home=place).run()


def opened(context: click.Context, **options: Any) -> Any:
    from engine.session.connect import connect

    target, home = context.obj
    return connect(target, home=home, progress=lambda line: click.echo(line, err=True), **options)


@cli.command()
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option("-o", "output", type=click.Path(path_type=Path))
@click.option("--detailed-exitcode", is_flag=True)
@click.option("--rows", default=5)
@click.pass_context
def plan(context: click.Context, file: Any, output: Path | None, detailed_exitcode: bool, rows: int) -> None:
    """Plan the MERGE of FILE and print the plan as JSON."""
    from engine.history import History
    from engine.plan_file import write_plan
    from engine.plan_merge import plan as plan_merge

    session = opened(context)
    try:
        found = plan_merge(session.spark, file.read(), rows=rows)
        History(context.obj[1] / "history.duckdb").record_planned(found)
    finally:
        session.close(keep=output is not None)
    if output is not None:
        write_plan(output, found)
    click.echo(found.to_json(), nl=False)
    if found.refused:
        sys.exit(FAILED)
    if detailed_exitcode and found.changes_something:
        sys.exit(CHANGES)


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True)
@click.option("--accept", multiple=True)
@click.pass_context
def apply(context: click.Context, file: Path, yes: bool, accept: tuple[str, ...]) -> None:
    """Commit a plan file, and print promise against actual as JSON."""
    from engine.apply_plan import apply as apply_plan
    from engine.errors import RefusedError
    from engine.history import History
    from engine.values import Plan

    found = Plan.from_json(file.read_text(encoding="utf-8"))
    if not yes:
        raise RefusedError("NOT_CONFIRMED", "The plan was not confirmed.", "Apply with --yes.")
    with opened(context, session_id=found.session.session_id, user_id=found.session.user_id) as session:
        outcome = apply_plan(
            session.spark, found, history=History(context.obj[1] / "history.duckdb"), accept=accept
        )
    click.echo(outcome.model_dump_json(indent=2))


@cli.command()
@click.option("--table", default=None)
@click.option("--limit", default=100)
@click.pass_context
def history(context: click.Context, table: str | None, limit: int) -> None:
    """Print the ledger as JSON, newest first."""
    from engine.history import History

    rows = History(context.obj[1] / "history.duckdb").list(table, limit)
    click.echo(json.dumps([row.model_dump() for row in rows], indent=2))


def main() -> None:
    """Run, and end with the contract's exit code and one line on stderr."""
    from engine.errors import EngineError

    try:
        cli(standalone_mode=False)
    except EngineError as error:
        click.echo(f"{error}\n{error.hint}", err=True)
        sys.exit(exit_code(error))
    except click.UsageError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(USAGE)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
