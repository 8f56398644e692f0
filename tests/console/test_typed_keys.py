"""A key does what it says, wherever the focus is, and is typed only where it was meant to be."""

from __future__ import annotations

import pytest
from textual.events import Key
from textual.widgets import Input

from console.dialogs.commit import CommitDialog
from console.dialogs.help import HelpDialog
from console.dialogs.part import PartDialog
from console.widgets.editor import SqlEditor
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


@pytest.mark.parametrize(("key", "sign"), [("alt+8", "¡"), ("alt+g", "©"), ("alt+8", None)])
async def test_alt_types_nothing(backend: FakeBackend, key: str, sign: str | None) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        operator.app.post_message(Key(key, sign))
        await operator.pilot.pause()
        assert operator.merge.editor.text == MERGE_SQL


@pytest.mark.parametrize("where", ["editor", "filter"])
async def test_keys_that_come_at_once_keep_their_order(backend: FakeBackend, where: str) -> None:
    async with console(backend) as operator:
        await operator.press("2" if where == "editor" else "3")
        if where == "filter":
            await operator.sees("applied, kept")
            await operator.press("slash")
        field = operator.app.focused
        assert isinstance(field, SqlEditor | Input)
        keys = [Key("a", "a"), *[Key("x", "x"), Key("backspace", None)] * 8, Key("c", "c"), Key("left", None)]
        for key in [*keys, Key("b", "b")]:
            operator.app.post_message(Key(key.key, key.character))
        await operator.until(lambda: (field.text if isinstance(field, SqlEditor) else field.value) == "abc", "abc")


async def test_ctrl_c_in_the_editor_cancels_the_plan_that_is_made(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r")
        await operator.until(lambda: backend.called("plan"))
        operator.merge.editor.focus()
        await operator.press("ctrl+c")
        await operator.sees("The plan was cancelled.")
        assert backend.called("cancel")


async def test_ctrl_c_copies_what_is_selected(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r")
        await operator.until(lambda: backend.called("plan"))
        operator.merge.editor.focus()
        await operator.press("shift+right", "shift+right", "ctrl+c")
        assert operator.app.clipboard == MERGE_SQL[:2]
        assert not backend.called("cancel")
        backend.release("plan")


async def test_the_key_that_goes_from_merge_to_merge_is_never_typed(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        await operator.press("alt+n")
        await operator.until(lambda: len(operator.app.merges) == 2)
        await operator.press("escape", *["full_stop"] * 5)
        editors = [place.query_one(SqlEditor) for place in operator.app.open_places() if place.query(SqlEditor)]
        assert "." not in "".join(editor.text for editor in editors).replace(MERGE_SQL, "")


async def test_f1_helps_in_a_dialog_and_leaves_it_open(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan")
        await operator.press("f1")
        await operator.until(lambda: isinstance(operator.app.screen, HelpDialog))
        await operator.sees("The commit of one plan.")
        await operator.press("escape")
        assert isinstance(operator.app.screen, CommitDialog)
        assert not backend.called("apply")


async def test_one_esc_closes_the_dialog_of_a_part(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        dialog = PartDialog("ON", "t.id = s.id", lambda _: "")
        operator.app.push_screen(dialog)
        await operator.until(lambda: isinstance(operator.app.focused, SqlEditor))
        await operator.press("escape")
        await operator.until(lambda: operator.app.screen is operator.merge)
