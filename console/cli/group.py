"""The global options, and the command without a name: the console itself."""

from __future__ import annotations

import contextlib
import os
import traceback
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from console.cli import (
    apply_command,
    browse,
    demo_command,
    doctor_command,
    expect_command,
    ledger,
    plan_command,
    rehearse_command,
    schema_command,
    server_command,
    template_command,
    undo_command,
)
from console.cli.exits import DONE, MEANINGS, CrashError, OutputError, PipeClosedError, told_codes
from console.cli.failures import ToldError
from console.cli.inputs import pairs
from console.cli.invocation import Invocation
from console.cli.opening import open_console
from console.cli.printed_help import CliGroup

LOCAL = "local[*]"
STORES = ("s3", "abfs", "gcs")


class Commands(CliGroup):
    """Keeps the traceback of what nobody foresaw out of the terminal: it goes to ``<home>/logs``."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from engine.model.errors import EngineError

        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if error.option_name in {name for one in self.params for name in one.opts}:
                where = f"deltamerge-console {error.option_name} … {ctx.invoked_subcommand}"
                raise click.UsageError(f"{error.option_name} stands before the command: {where}", error.ctx) from error
            raise
        except (EngineError, ToldError, CrashError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except (PipeClosedError, OutputError):
            raise
        except BrokenPipeError as error:
            raise PipeClosedError(DONE) from error
        except Exception as error:
            invocation = ctx.find_object(Invocation)
            sentence = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            raise CrashError(sentence, keep_traceback(invocation, error)) from error


def keep_traceback(invocation: Invocation | None, error: BaseException) -> str | None:
    """Append the traceback to ``<home>/logs/console.log`` (0600). The path, or None where that cannot be written."""
    if invocation is None:
        return None
    from engine.model.secrets import redact

    log = invocation.place / "logs" / "console.log"
    text = redact("".join(traceback.format_exception(error)))
    at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    with contextlib.suppress(OSError):
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{at} {text}\n")
        return str(log)
    return None


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=told_codes(MEANINGS),
)
@click.option("--master", metavar="M", help=f"Spark master of the embedded server (default {LOCAL}).")
@click.option("--remote", metavar="sc://…", help="A Spark Connect server of yours, instead.")
@click.option("--conf", "confs", metavar="K=V", multiple=True, help="A Spark setting. May be repeated.")
@click.option("--profile", metavar="NAME", help="A profile of settings.toml: [profiles.NAME].")
@click.option("--store", type=click.Choice(STORES), help="The object store that the embedded server is to reach.")
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="DELTAMERGE_CONSOLE_HOME",
    help="Where history, logs and settings are.",
)
@click.version_option(package_name="deltamerge-console")
@click.pass_context
def cli(
    context: click.Context,
    master: str | None,
    remote: str | None,
    confs: tuple[str, ...],
    profile: str | None,
    store: str | None,
    home: Path | None,
) -> None:
    """Plan/apply for Delta Lake MERGE. Without a command it opens the console."""
    context.obj = resolve(master, remote, confs, profile, home, store)
    if context.invoked_subcommand is None:
        open_console(context.obj)


def resolve(
    master: str | None,
    remote: str | None,
    confs: tuple[str, ...],
    profile: str | None,
    home: Path | None,
    store: str | None = None,
) -> Invocation:
    """The options and the profile as one: what is typed wins."""
    from engine.session.home import default_home

    if master and remote:
        raise click.UsageError("--master and --remote exclude each other.")
    if remote is not None and not remote.startswith("sc://"):
        raise click.UsageError(f"--remote wants sc://HOST:PORT, not {remote!r}.")
    place = (home or default_home()).expanduser().absolute()
    from console.profiles import Profile, load_profile, profile_of, server_place
    from engine.model.errors import UsageError

    target, settings, fault = master or remote, pairs(confs, "--conf"), None
    if profile is not None:
        found = load_profile(place, profile)
        other = profile_of(place, target) if target else None
        if other is not None and other.name != found.name:
            raise click.UsageError(
                f"{target} is the Spark of the profile {other.name}, which has rules of its own: name that profile."
            )
        target, settings = target or found.target, {**found.confs, **settings}
    else:
        try:
            found = profile_of(place, target or LOCAL) or Profile()
        except UsageError as error:
            # what needs no Spark, doctor among it, goes on
            found, fault = Profile(), error
    store_name = store or (found.store if profile is not None else "")
    if store_name and (target or "").startswith("sc://"):
        raise click.UsageError("--store is for the embedded server; a --remote one has the jars and keys of its own.")
    typed = {
        "--master": master,
        "--remote": remote and remote.partition("/;")[0],
        "--profile": profile,
        "--store": store,
    }
    options = [word for name, value in typed.items() if value for word in (name, value)]
    if home is not None and not os.environ.get("DELTAMERGE_CONSOLE_HOME"):
        options += ["--home", str(home)]
    return Invocation(
        target or LOCAL,
        place,
        settings,
        found.private,
        found.policy,
        tuple(options),
        found.name,
        found.production,
        found.checks,
        store_name,
        server_place(place, profile or "", store_name, found.confs),
        fault,
    )


for command in (
    demo_command.demo,
    plan_command.plan,
    plan_command.show,
    rehearse_command.rehearse,
    apply_command.apply,
    browse.tables,
    browse.describe,
    expect_command.expect,
    ledger.history,
    ledger.show_op,
    undo_command.undo,
    server_command.server,
    doctor_command.doctor,
    schema_command.schema,
    template_command.template,
):
    cli.add_command(command)
