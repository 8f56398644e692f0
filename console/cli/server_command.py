"""``server``: the embedded Spark Connect server of this home."""

from __future__ import annotations

from dataclasses import asdict

import click

from console.cli.exits import DONE, ON_SPARK, WITHOUT_SPARK, told_codes
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import narrate
from console.cli.printed_help import CliGroup
from console.cli.streams import print_json, put, show
from console.words.format import local_time

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group(cls=CliGroup, epilog=told_codes(ON_SPARK))
@with_invocation
def server(invocation: Invocation) -> None:
    """The embedded Spark server: it outlives the console, so that the next start is warm."""
    if invocation.is_remote:
        raise click.UsageError("The server commands are for the embedded server, not for --remote.")


@server.command(epilog=told_codes(WITHOUT_SPARK))
@json_option
@with_invocation
def status(invocation: Invocation, as_json: bool) -> int:
    """Tell whether it runs, and what it is."""
    _tell(invocation, as_json)
    return DONE


@server.command(epilog=told_codes(ON_SPARK))
@json_option
@with_invocation
def start(invocation: Invocation, as_json: bool) -> int:
    """Start it, unless it runs already."""
    from engine.session.server import start_server

    invocation.check_rules()
    with narrate() as narrator:
        start_server(
            invocation.server_home,
            master=invocation.target,
            confs=invocation.confs,
            progress=narrator.say,
            store=invocation.store,
        )
    _tell(invocation, as_json)
    return DONE


@server.command(epilog=told_codes(WITHOUT_SPARK))
@json_option
@with_invocation
def stop(invocation: Invocation, as_json: bool) -> int:
    """Stop it and, without --profile and --store, those of profiles and stores, in use or not.

    Frozen sources of saved plans are gone with it; history stays.
    """
    from engine.session.server import stop_server

    stopped = stop_server(invocation.server_place, alone="--profile" in invocation.options or bool(invocation.store))
    if as_json:
        print_json({"stopped": stopped})
    else:
        put("The Spark server is stopped." if stopped else "No Spark server was running.")
    return DONE


def _tell(invocation: Invocation, as_json: bool) -> None:
    from engine.session.server import is_starting, server_status

    found = server_status(invocation.server_place)
    if as_json:
        print_json(asdict(found))
    elif not found.running:
        put("No Spark server is running.")
    else:
        from console.cli.view_plan import facts

        starting = not found.answers and is_starting(invocation.server_place)
        state = ", starting" if starting else "" if found.answers else ", but it does not answer"
        versions = ", ".join(f"{name} {value}" for name, value in (found.versions or {}).items())
        show(
            facts(
                {
                    "running": f"pid {found.pid}{state}",
                    "endpoint": found.endpoint or "",
                    "master": found.master or "",
                    "versions": versions,
                    "started": local_time(found.started_at, zone=True),
                    "log": found.log or "",
                }
            )
        )
        if not found.answers and not starting:
            put(f"It hangs: `{invocation.command('server', 'stop')}` ends it.")
