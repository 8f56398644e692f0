"""Names of keys as printed on keyboards, and the bindings of a screen as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from textual.binding import ActiveBinding, Binding
from textual.dom import DOMNode
from textual.keys import REPLACED_KEYS, key_to_character
from textual.widget import Widget

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "full_stop": ".",
    "comma": ",",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "minus": "-",
    "plus": "+",
    "pageup": "page up",
    "pagedown": "page down",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
_OURS: Mapping[str, str] = {}
_PLAIN_NAMES = {"↑": "up", "↓": "down", "←": "left", "→": "right"}


def key_name(key: str, *, plain: bool = False) -> str:
    """``ctrl+r``, ``esc``, ``F5``, ``?``: what is printed on the key. ``plain`` keeps to ASCII."""
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    name = _NAMES.get(last, last)
    if plain:
        name = _PLAIN_NAMES.get(name, name)
    if len(last) > 1 and last[0] == "f" and last[1:].isdigit():
        name = last.upper()
    if not modifiers and len(last) == 1 and last.isupper():
        name = f"shift+{last.lower()}"
    return "+".join([*modifiers, name])


def is_typed(key: str, node: DOMNode, focused: Widget | None) -> bool:
    """Whether a key that ``node`` has a binding for is typed into the text that has the focus."""
    if focused is None or focused is node:
        return False
    # Textual 8.2.8 takes / and + and - for no characters
    character = key_to_character(key) or ("/" if key in REPLACED_KEYS else None)
    return focused.check_consume_key(key, character)


@dataclass(frozen=True)
class KeyHint:
    """One entry of a key line: the keys, each with the action that it runs, and a word or two."""

    keys: tuple[tuple[str, str], ...]
    label: str

    @property
    def action(self) -> str:
        """What a click on the words runs."""
        return self.keys[0][1]


def hints(active: Iterable[ActiveBinding], *, plain: bool = False) -> list[KeyHint]:
    """The bindings to show, one for each action; a group of bindings becomes one entry."""
    entries: list[KeyHint] = []
    actions: set[str] = set()
    groups: dict[str, int] = {}
    for entry in _as_declared(active):
        binding = entry.binding
        if not binding.show or not entry.enabled or binding.action in actions:
            continue
        actions.add(binding.action)
        keys = key_name(binding.key, plain=plain)
        group = binding.group.description if binding.group else ""
        if group and group in groups:
            index = groups[group]
            before = entries[index]
            entries[index] = KeyHint((*before.keys, (keys, binding.action)), group)
            continue
        if group:
            groups[group] = len(entries)
        entries.append(KeyHint(((keys, binding.action),), group or binding.description))
    return entries


def _as_declared(active: Iterable[ActiveBinding]) -> Iterator[ActiveBinding]:
    """Textual puts the bindings whose keys were chosen behind all others of their class, where a narrow line ends."""
    by_node: dict[DOMNode, list[ActiveBinding]] = {}
    for entry in active:
        by_node.setdefault(entry.node, []).append(entry)
    for node, entries in by_node.items():
        declared = [binding.action for _, binding in node._bindings]
        yield from sorted(entries, key=lambda entry: declared.index(entry.binding.action))


def keys_of(binding: Binding, keymap: Mapping[str, str]) -> list[str]:
    """The keys of a binding: those that the operator chose, else its own. ``keymap`` is by id."""
    return keymap.get(binding.id or "", binding.key).split(",")


def catalog(
    bindings: Iterable[Binding], keymap: Mapping[str, str] = _OURS, *, plain: bool = False
) -> list[tuple[str, Binding]]:
    """Each action once, with all of its keys: ``("ctrl+r, F5, p", binding)``."""
    by_action: dict[str, tuple[list[str], Binding]] = {}
    for binding in Binding.make_bindings(bindings):
        if binding.system:
            continue
        keys, _ = by_action.setdefault(binding.action, ([], binding))
        names = [key_name(key, plain=plain) for key in keys_of(binding, keymap)]
        keys += [name for name in names if name not in keys]
    return [(", ".join(keys), binding) for keys, binding in by_action.values()]
