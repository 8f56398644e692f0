"""Every action by name, for the command palette: made from the bindings, so that none can be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.actions import parse
from textual.app import App, SystemCommand
from textual.binding import Binding

from console.widgets.keys import catalog

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.screen import Screen

    from console.specs import PlaceSpec


def commands_in_order() -> type[Provider]:
    """Imported when the palette is opened, as Textual does with its own."""
    from console.palette import CommandsInOrder

    return CommandsInOrder


def all_commands(
    app: App[None], places: Sequence[PlaceSpec], keymap: Mapping[str, str], go_to: Callable[[str], Screen[None]]
) -> Iterable[SystemCommand]:
    """The actions of every place, of this one those that are possible now; then those of the whole console, then the
    themes."""
    current = app.screen_stack[0]
    # those of the current place come first
    for spec in sorted(places, key=lambda spec: spec.place_class is not type(current)):
        is_here = spec.place_class is type(current)
        for keys, binding in catalog(bindings_of(spec), keymap):
            if is_here and not _is_possible(app, current, binding.action):
                continue
            title = f"{spec.label}: {binding.description}"
            yield SystemCommand(
                title,
                f"{binding.tooltip} ({keys})",
                _in_place(app, partial(go_to, spec.name), title, binding),
            )
    for keys, binding in catalog(_app_bindings(app), keymap):
        if binding.action == "command_palette":
            continue
        title = binding.tooltip if binding.action.startswith("app.place") else f"Console: {binding.description}"
        yield SystemCommand(title, f"{binding.tooltip} ({keys})", _in_app(app, title, binding))
    yield SystemCommand("Console: theme", "Choose the colours", app.action_change_theme)


def bindings_of(spec: PlaceSpec) -> list[Binding]:
    """The bindings that a place adds to those of the console."""
    return list(Binding.make_bindings(spec.place_class.__dict__.get("BINDINGS", [])))


def _app_bindings(app: App[None]) -> list[Binding]:
    return list(Binding.make_bindings(type(app).BINDINGS))


def _is_possible(app: App[None], place: Screen[object], action: str) -> bool:
    destination, name, parameters = parse(action)
    return bool((app if destination == "app" else place).check_action(name, parameters))


def _in_place(app: App[None], go_there: Callable[[], Screen[None]], title: str, binding: Binding) -> Callable[[], None]:
    def run() -> None:
        place = go_there()
        # a place that was just made has to be mounted before it can act
        place.call_after_refresh(_act, app, title, binding, place)

    return run


def _in_app(app: App[None], title: str, binding: Binding) -> Callable[[], None]:
    def run() -> None:
        app.call_next(_act, app, title, binding)

    return run


async def _act(app: App[None], title: str, binding: Binding, place: Screen[None] | None = None) -> None:
    if not await app.run_action(binding.action, place):
        app.notify(f"{title} is not possible now: {binding.tooltip}.")
