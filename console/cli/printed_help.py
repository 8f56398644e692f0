"""Commands whose help, which click prints while it reads the arguments, is an output as any other."""

from __future__ import annotations

from typing import Any

import click

from console.cli.streams import printing


class CliCommand(click.Command):
    """Tells a full disk, on which the help is to be printed, from the faults of the command, and of which command an
    option is that is wrong."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the arguments."""
        with printing():
            return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class CliGroup(CliCommand, click.Group):
    """A command with commands of its own."""

    command_class = CliCommand
