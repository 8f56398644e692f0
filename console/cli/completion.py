"""What the shell completes beyond commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Have the shell offer its files: once a command completes words by itself, the shell offers none on its own."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]
