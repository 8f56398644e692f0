"""Every action of every place: it may be asked for at any moment, by the palette if not by its key; none crashes."""

from __future__ import annotations

import pytest

from console.commands import bindings_of
from console.keymap import all_bindings
from console.specs import PLACES
from tests.console.drive import ORDERS, Clock, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

NOT_HERE = {"app.quit", "merge.close"}
"""The first leaves, the second takes the place away: both have tests of their own."""


async def nothing_done(operator: Operator) -> None:
    """As the console opens."""


async def something_done(operator: Operator) -> None:
    """A table is open, and a merge is planned."""
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "enter")
    await operator.sees("decimal(12,2)")
    await operator.plan(MERGE_SQL)


MOMENTS = [
    # the places that much can be done in, and the others as they open; the rest is for who has time
    pytest.param(spec.name, before, marks=[pytest.mark.thorough] if (before is something_done) != busy else [])
    for spec in PLACES
    for before in (nothing_done, something_done)
    for busy in [spec.name in ("tables", "merge")]
]


@pytest.mark.parametrize(("place", "before"), MOMENTS)
async def test_no_action_crashes_whenever_it_is_asked_for(backend: FakeBackend, place: str, before: object) -> None:
    spec = next(spec for spec in PLACES if spec.name == place)
    async with console(backend, size=(100, 30)) as operator:
        await operator.warm()
        await before(operator)  # type: ignore[operator]
        for binding in bindings_of(spec):
            if binding.id in NOT_HERE:
                continue
            screen = operator.app.go_to(place)
            await operator.until(lambda screen=screen: screen.is_mounted)  # type: ignore[misc]
            await operator.app.run_action(binding.action, screen)
            await operator.pilot.pause()
            while len(operator.app.screen_stack) > 1:
                operator.app.pop_screen()
                await operator.pilot.pause()
            await operator.until(lambda: not operator.app.status.work)
        assert operator.app.is_running


def test_the_palette_has_every_action_that_a_key_has(backend: FakeBackend) -> None:
    from console.app import DeltaMergeApp

    app = DeltaMergeApp(backend, home=backend.home)
    app.clock = Clock()
    app._screen_stacks = {"tables": [app.get_default_screen()]}
    titles = " / ".join(f"{command.title} {command.help}" for command in app.get_system_commands(app.screen_stack[0]))
    owners = all_bindings()
    for owner in ("Everywhere", *(spec.label for spec in PLACES)):
        for binding in owners[owner]:
            if binding.action != "command_palette":
                assert binding.tooltip in titles, f"{owner}: {binding.id}"


async def test_the_palette_begins_with_what_can_be_done_here(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+p")
        await operator.sees("Merge: ")
        assert "Create: " not in operator.screen
