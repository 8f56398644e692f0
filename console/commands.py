"""Every action by name, for the command palette: made from the bindings, so that none can be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.binding import Binding

from console.jumps import jumps
from console.specs import PLACES, PlaceSpec
from console.widgets.keys import catalog

if TYPE_CHECKING:
    from console.app import DeltaMergeApp


def all_commands(app: DeltaMergeApp) -> Iterable[SystemCommand]:
    """The actions of every place, then those of the whole console, the themes, and what can be jumped to."""
    current = app.screen_stack[0]
    # those of the place one is in come first
    for spec in sorted(PLACES, key=lambda spec: spec.place_class is not type(current)):
        for keys, binding in catalog(bindings_of(spec), app.keymap):
            yield SystemCommand(
                f"{spec.label}: {binding.description}",
                f"{binding.tooltip} ({keys})",
                _in_place(app, spec, binding.action),
            )
    for keys, binding in catalog(_app_bindings(app), app.keymap):
        if binding.action == "command_palette":
            continue
        yield SystemCommand(
            binding.tooltip if binding.action.startswith("app.place") else f"Console: {binding.description}",
            f"{binding.tooltip} ({keys})",
            _in_app(app, binding.action),
        )
    yield SystemCommand("Console: theme", "Choose the colours", app.action_change_theme)
    yield from jumps(app)


def bindings_of(spec: PlaceSpec) -> list[Binding]:
    """The bindings that a place adds to those of the console."""
    return list(Binding.make_bindings(spec.place_class.__dict__.get("BINDINGS", [])))


def _app_bindings(app: DeltaMergeApp) -> list[Binding]:
    return list(Binding.make_bindings(type(app).BINDINGS))


def _in_place(app: DeltaMergeApp, spec: PlaceSpec, action: str) -> Callable[[], None]:
    def run() -> None:
        place = app.go_to(spec.name)
        # a place that was just made has to be mounted before it can act
        place.call_after_refresh(app.run_action, action, place)

    return run


def _in_app(app: DeltaMergeApp, action: str) -> Callable[[], None]:
    def run() -> None:
        app.call_next(app.run_action, action)

    return run
