"""A key does what it says, wherever the focus is, and is typed only where it was meant to be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.keys import key_to_character
from textual.widgets import Input

from console.dialogs.commit import CommitDialog
from console.dialogs.part import PartDialog
from console.places.merge.merge import MergePlace
from console.widgets.editor import SqlEditor
from tests.console.drive import Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


@pytest.mark.parametrize(("key", "sign"), [("alt+8", "¡"), ("alt+g", "©"), ("alt+8", None)])
async def test_alt_types_nothing(backend: FakeBackend, key: str, sign: str | None) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        operator.app.post_message(Key(key, sign))
        await operator.pilot.pause()
        assert operator.merge.editor.text == MERGE_SQL


@pytest.mark.parametrize("digit", "0123456789")
async def test_alt_and_a_digit_are_a_key_as_terminals_send_them(backend: FakeBackend, digit: str) -> None:
    async with console(backend):
        pass  # Textual's own table has a sign there
    parser = XTermParser()
    events = [*parser.feed(f"\x1b{digit}"), *parser.feed("")]
    (key,) = [event for event in events if isinstance(event, Key)]
    assert key.key == f"alt+{digit}"


@pytest.mark.parametrize("where", ["editor", "filter"])
async def test_keys_that_come_at_once_keep_their_order(backend: FakeBackend, where: str) -> None:
    async with console(backend) as operator:
        await operator.press("2" if where == "editor" else "3")
        if where == "filter":
            await operator.sees("applied, kept")
            await operator.press("slash")
        await operator.until(lambda: isinstance(operator.app.focused, SqlEditor | Input), "the field")
        field = operator.app.focused
        assert isinstance(field, SqlEditor | Input)
        keys = [Key("a", "a"), *[Key("x", "x"), Key("backspace", None)] * 8, Key("c", "c"), Key("left", None)]
        for key in [*keys, Key("b", "b")]:
            operator.app.post_message(Key(key.key, key.character))
        await operator.until(lambda: (field.text if isinstance(field, SqlEditor) else field.value) == "abc", "abc")


async def test_a_place_that_has_no_text_yet_may_be_told_of_spark(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        place = MergePlace(2)
        assert not place.is_composed
        place.spark_is_starting()
        place.spark_is_warm()


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
        await operator.help()
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


def at_once(operator: Operator, *keys: str) -> None:
    """As a terminal sends them that has them all: nothing is drawn between two keys."""
    for key in keys:
        operator.app.post_message(Key(key, key if len(key) == 1 else key_to_character(key)))


async def test_what_follows_the_key_of_a_filter_is_typed_into_the_filter(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        at_once(operator, "slash", *"orders_n")
        filter = operator.app.screen.query_one("#filter", Input)
        await operator.until(lambda: filter.value == "orders_n", "the whole word")
        assert len(operator.app.screen_stack) == 1  # o did not open a dialog


async def test_what_follows_the_key_of_another_place_is_meant_for_that_place(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        # the editor has the focus there: esc leaves it, so that the next key goes on
        at_once(operator, "2", "escape", "3")
        await operator.until(lambda: operator.app.current_mode == "history", "the history")
        await operator.press("2")
        assert not operator.merge.editor.text


async def test_a_value_is_typed_right_after_its_key(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL.replace("WHEN MATCHED", "AND s.day = :day WHEN MATCHED", 1))
        await operator.until(lambda: operator.merge.pane.query(Input))
        text = operator.merge.editor.text
        at_once(operator, "alt+v", *"4711")
        await operator.until(lambda: operator.merge.pane.query(Input).first().value == "4711", "4711")
        assert operator.merge.editor.text == text


async def test_a_dialog_that_writes_takes_no_key_that_was_pressed_before_it_came(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    settles: list[Callable[[], Awaitable[None]]] = []
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        order = operator.app._key_order
        with monkeypatch.context() as slow:
            slow.setattr(order, "_follow", lambda _, then: settles.append(then))
            for key in ("c", "ctrl+y"):
                operator.app.post_message(Key(key, key_to_character(key)))
            await operator.until(lambda: isinstance(operator.app.screen, CommitDialog))
            await operator.until(lambda: operator.app.screen.query_one("#confirm").disabled is False)
        await settles[0]()
        await operator.pilot.pause()
        assert isinstance(operator.app.screen, CommitDialog)
        assert not backend.called("apply")
        await operator.press("ctrl+y")
        await operator.until(lambda: backend.called("apply"))


async def test_keys_that_never_settle_do_not_keep_the_others_waiting(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.widgets.key_order.PATIENCE_SECONDS", 0.05)
    async with console(backend) as operator:
        order = operator.app._key_order
        with monkeypatch.context() as lost:
            lost.setattr(order, "_follow", lambda *_: None)
            for key in ("2", "escape", "3", "down", "up", "r"):
                operator.app.post_message(Key(key, key_to_character(key)))
            await operator.until(lambda: order._press == 6, "every key")
        await operator.press("1")
        await operator.sees("Open a table with enter.")
