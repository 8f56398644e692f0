"""The keys that an operator chose, ``[keys]`` in ``<home>/settings.toml``: ``merge.plan = "f6"``.

Textual applies such a map by the ids of the bindings; this module reports what it would ignore, and
keys that clash.
Late import: it imports every place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import chain

from textual.binding import Binding, InvalidBinding
from textual.keys import Keys, key_to_character

from console.specs import PLACES
from console.widgets.keys import key_name, keys_of

_OWNERS = (
    ("Everywhere", "console.app", "DeltaMergeApp"),
    *((spec.label, spec.module, spec.class_name) for spec in PLACES),
    ("The editor", "console.widgets.editor", "SqlEditor"),
    ("The list of tables", "console.widgets.table_tree", "TableTree"),
    ("A table", "console.widgets.grid", "Grid"),
    ("A map of files", "console.widgets.file_map", "FileMapView"),
    ("A box to tick", "console.widgets.accept", "Accept"),
    ("A choice on one line", "console.widgets.one_of", "OneOf"),
    ("A part of a statement", "console.widgets.part_box", "PartBox"),
    ("A dialog", "console.dialogs.dialog", "Dialog"),
    ("The commit dialog", "console.dialogs.commit", "CommitDialog"),
    ("A column to write", "console.dialogs.column", "ColumnDialog"),
    ("A clause to write", "console.dialogs.clause", "ClauseDialog"),
    ("The columns of a clause", "console.widgets.column_rows", "ColumnRows"),
    ("A part in full", "console.dialogs.part", "PartDialog"),
    ("A question", "console.dialogs.confirm", "ConfirmDialog"),
    ("A path to type", "console.dialogs.path", "PathDialog"),
    ("A list to pick from", "console.dialogs.pick", "PickDialog"),
    ("A row in full", "console.dialogs.row", "RowDialog"),
    ("The help", "console.dialogs.help", "HelpDialog"),
)
# what is in a place, or in all of them
_INSIDE: Mapping[str, tuple[str, ...]] = {
    "A table": (),
    "The list of tables": ("Tables",),
    "A map of files": ("Tables", "Merge", "Create"),
    "A part of a statement": ("Merge", "Create"),
}
_PREFIXES = {"table_tree": "tree", "file_map": "map", "part_box": "part", "part": "full", "column_rows": "columns"}
_MARK = re.compile(r"\{([a-z]+\.[a-z_]+)\}")
_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})


def all_bindings() -> dict[str, list[Binding]]:
    """Every binding of ours, one for each key, by who has it."""
    return {
        owner: list(Binding.make_bindings(vars(getattr(import_module(module), name)).get("BINDINGS", [])))
        for owner, module, name in _OWNERS
    }


def with_keys(text: str, keymap: Mapping[str, str], *, plain: bool) -> str:
    """A sentence of ours with the key in use, the first of several, in place of each ``{merge.plan}``."""
    return _MARK.sub(lambda found: key_name(_first_key(found.group(1), keymap), plain=plain), text)


def _first_key(binding_id: str, keymap: Mapping[str, str]) -> str:
    """Imports only the module that has the binding."""
    if binding_id in keymap:
        return _normalized(keymap[binding_id])[0]
    prefix = binding_id.partition(".")[0]
    module, name = next((module, name) for _, module, name in _OWNERS if _prefix(module) == prefix)
    bindings = Binding.make_bindings(vars(getattr(import_module(module), name))["BINDINGS"])
    return next(binding.key for binding in bindings if binding.id == binding_id)


def _prefix(module: str) -> str:
    """The prefix of the ids of a module's bindings."""
    name = module.rpartition(".")[2]
    return _PREFIXES.get(name, name)


def checked_keymap(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The part of ``wanted`` (keys by binding id) that can be used, and a sentence for each that cannot."""
    from difflib import get_close_matches

    owners = all_bindings()
    known = {binding.id: owner for owner, bindings in owners.items() for binding in bindings if binding.id}
    usable: dict[str, str] = {}
    complaints: list[str] = []
    for binding_id, keys in wanted.items():
        names = _normalized(keys)
        if binding_id not in known:
            near = get_close_matches(binding_id, known, n=1)
            complaints.append(f"no action is named {binding_id!r}{f', perhaps {near[0]!r}' if near else ''}")
        elif bad := [name for name in names if not _is_key(name)]:
            complaints.append(f"{binding_id}: there is no key {bad[0]!r}" if bad[0] else f"{binding_id} needs a key")
        else:
            usable[binding_id] = ",".join(names)
    meant = _clashes(owners, {})
    for first, second, key in _clashes(owners, usable):
        if (first, second, key) in meant:
            continue
        # if both were chosen, the second gives way; else the one that was chosen does
        loser, winner = (second, first) if second in usable else (first, second)
        if usable.pop(loser, None) is not None:
            complaints.append(f"{loser}: {key} is the key of {winner} already")
    return usable, [f"settings.toml, keys: {complaint}; its own keys stay." for complaint in complaints]


def _clashes(owners: Mapping[str, Iterable[Binding]], keymap: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Pairs of actions that can be active together and share a key, with that key."""
    found = []
    places = [spec.label for spec in PLACES]
    for owner, bindings in owners.items():
        by_key: dict[str, list[str]] = defaultdict(list)
        around = {"Everywhere": owners["Everywhere"], owner: bindings}
        if owner in places:
            # one of them has the focus
            around |= {inside: owners[inside] for inside, where in _INSIDE.items() if not where or owner in where}
        for binding in chain.from_iterable(around.values()):
            for key in keys_of(binding, keymap):
                if binding.id and binding.id not in by_key[key]:
                    by_key[key].append(binding.id)
        found += [(ids[0], other, key) for key, ids in by_key.items() for other in ids[1:]]
    return list(dict.fromkeys(found))


def _normalized(keys: str) -> list[str]:
    """``?, ctrl+y`` as Textual names the keys; [""] if there is none."""
    try:
        return [binding.key for binding in Binding.make_bindings([Binding(keys, "none")])]
    except InvalidBinding:
        return [""]


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+")
    if not last or not _MODIFIERS.issuperset(modifiers):
        return False
    return last in {member.value for member in Keys} or key_to_character(last) is not None
