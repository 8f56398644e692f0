"""The keys of a text in the order in which they were pressed."""

from __future__ import annotations

from textual.app import App
from textual.binding import Binding
from textual.events import Key
from textual.widgets import Input, TextArea

# enter is not one of them: it waits for what dialogs do with the arrows before it
_KEYS = {
    owner: {binding.key for binding in Binding.make_bindings(owner.BINDINGS)} - {"enter"} for owner in (Input, TextArea)
}


def edits_in_order(app: App[None], event: Key) -> bool:
    """Run a key such as backspace in the text that has the focus. False if the key is none of a text.

    Textual 8.2.8 types a letter as soon as the text hears of it, but runs backspace only after the key went up to the
    app: typed quickly, or while a long line is drawn, the next letter comes first and is what backspace deletes.
    """
    focused = app.focused
    keys = next((keys for owner, keys in _KEYS.items() if isinstance(focused, owner)), set())
    if event.is_forwarded or focused is None or event.key not in keys:
        return False
    active = app.screen.active_bindings.get(event.key)
    if active is None or active.node is not focused or active.binding.priority:
        return False
    # behind the letters that wait in the same queue
    return focused.call_later(focused.run_action, active.binding.action)
