"""``schema``: the JSON Schema of a plan file, for the programs that read one, and of expectations, for editors."""

from __future__ import annotations

import click

from console.cli.exits import DONE, USAGE, told_codes
from console.cli.printed_help import CliCommand
from console.cli.streams import put


@click.command(cls=CliCommand, epilog=told_codes((DONE, USAGE)))
@click.argument("kind", type=click.Choice(["plan", "create", "expectations"]))
def schema(kind: str) -> int:
    """Print the JSON Schema of a plan file: of a MERGE (plan), or of a CREATE or REPLACE TABLE (create); or that of a
    file of expectations."""
    if kind == "expectations":
        import json

        from engine.expect.schema import expectations_schema

        put(json.dumps(expectations_schema(), indent=2, ensure_ascii=False))
        return DONE
    from engine.model.plan_file import CREATE_SCHEMA_FILE, SCHEMA_FILE

    file = SCHEMA_FILE if kind == "plan" else CREATE_SCHEMA_FILE
    put(file.read_text(encoding="utf-8"), nl=False)
    return DONE
