"""``schema``: the JSON Schema of a plan file, for the programs that read one."""

from __future__ import annotations

import click

from console.cli.exits import DONE, USAGE, told_codes


@click.command(epilog=told_codes((DONE, USAGE)))
@click.argument("kind", type=click.Choice(["plan", "create"]))
def schema(kind: str) -> int:
    """Print the JSON Schema of a plan file: of a MERGE (plan), or of a CREATE or REPLACE TABLE (create)."""
    from engine.model.plan_file import CREATE_SCHEMA_FILE, SCHEMA_FILE

    file = SCHEMA_FILE if kind == "plan" else CREATE_SCHEMA_FILE
    click.echo(file.read_text(encoding="utf-8"), nl=False)
    return DONE
