"""Keys: each is told in one place and shown in three: on the key line, in the help and in the README."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from textual.actions import parse

from console import keymap
from console.dialogs.help import HelpDialog
from console.keymap import all_bindings, checked_keymap
from console.specs import PLACES
from console.widgets.keys import catalog, hints, key_name
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL, a_refused_plan

README = Path(__file__).parents[2] / "README.md"


def test_every_binding_has_an_id_to_remap_it_by_and_a_sentence_for_the_help() -> None:
    for owner, bindings in all_bindings().items():
        for binding in bindings:
            assert binding.id, f"{owner}: {binding}"
            assert binding.tooltip or binding.id in ("tree.down", "tree.up"), f"{owner}: {binding}"


NEVER_AT_ONCE = [{"merge.why", "merge.remove_clause"}, {"merge.save_plan", "merge.save_merge"}]
"""Actions of two views of one place, so that only one of them is ever possible."""


def test_no_two_actions_of_one_owner_share_a_key() -> None:
    for owner, bindings in all_bindings().items():
        keys = [(binding.key, binding.id) for binding in bindings]
        ids = {key: {binding_id for other, binding_id in keys if other == key} for key, _ in keys}
        assert not {key: names for key, names in ids.items() if len(names) > 1 and names not in NEVER_AT_ONCE}, owner


async def test_actions_that_share_a_key_are_never_possible_at_once(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        found = []
        for view in ("compose", "form", "preview", "commit"):
            operator.merge.show_view(view)
            possible = operator.merge.possible()
            found.append((possible["view"], possible["remove_clause"]))
            assert not (possible["save_plan"] and possible["save_merge"])
        assert found == [(False, False), (False, True), (True, False), (False, False)]


def test_each_key_of_the_readmes_table_does_what_it_says_there() -> None:
    """The word of the README's row is in the tooltip or the label of an action that has those keys."""
    tables = re.findall(r"^\| key \| what it does \|\n\|---\|---\|\n((?:\|.*\|\n)+)", README.read_text(), re.MULTILINE)
    assert len(tables) == 1
    entries = [entry for bindings in all_bindings().values() for entry in catalog(bindings)]
    for row in tables[0].splitlines():
        cell, told = (part.strip() for part in row.strip("|").split("|", 1))
        for key in re.findall(r"`([^`]+)`", cell):
            texts = [
                f"{binding.description} {binding.tooltip}".lower()
                for keys, binding in entries
                if key in keys.split(", ")
            ]
            assert texts, f"the README tells of {key}, which no action has"
            words = set(re.findall(r"[a-z]{3,}", told.lower()))
            assert any(words & set(re.findall(r"[a-z]{3,}", text)) for text in texts), f"{key}: {told} / {texts}"


@pytest.mark.parametrize("place", "123456")
async def test_the_help_names_every_key_of_its_place_and_of_the_whole_console(backend: FakeBackend, place: str) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press(place, "escape")
        does = {key_name(key): one.binding.action for key, one in operator.app.screen.active_bindings.items()}
        dialog = await operator.help("question_mark")
        told = {(one.lead.plain.strip(), one.body.plain) for one in dialog.help_text()}
        owner = next(spec.label for spec in PLACES if spec.key == place)
        for bindings in (all_bindings()[owner], all_bindings()["Everywhere"]):
            first: dict[str | None, tuple[str, str]] = {}
            for keys, binding in catalog(bindings):
                # a key that does something else here is told of with that
                own = [key for key in keys.split(", ") if does.get(key, binding.action) == binding.action]
                first.setdefault(binding.id, (", ".join(own) or keys, binding.tooltip))
            assert set(first.values()) <= told


async def test_keys_that_were_chosen_replace_the_old_ones_on_screen_and_in_the_help(backend: FakeBackend) -> None:
    Path(backend.home, "settings.toml").write_text('[keys]\nmerge.plan = "f3"\n"merge.commit" = "C,f2"\n')
    async with console(backend, size=(120, 120)) as operator:
        await operator.warm()
        await operator.until(lambda: operator.app.keymap)
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r")
        assert not backend.called("plan")
        await operator.press("f3")
        await operator.sees("updates 1,204", "shift+c commit")
        await operator.press("c", "question_mark")
        await operator.sees("shift+c, F2", "F3  ")
        await operator.press("escape", "f2")
        await operator.sees("Commit plan")


async def test_chosen_keys_stand_where_the_old_ones_stood_on_a_narrow_screen(backend: FakeBackend) -> None:
    Path(backend.home, "settings.toml").write_text('[keys]\nmerge.plan = "f3"\nmerge.commit = "f6"\n')
    async with console(backend) as operator:
        await operator.warm()
        await operator.until(lambda: operator.app.keymap)
        await operator.write(MERGE_SQL)
        await operator.sees("F3 plan")
        await operator.press("f3")
        await operator.sees("updates 1,204")
        assert operator.keys.split("  ")[0].strip() == "F6 commit…"


REFUSED = {
    ("merge.pln", "f6"): "no action is named 'merge.pln', perhaps 'merge.plan'",
    ("merge.plan", "ctrll+r"): "merge.plan: there is no key 'ctrll+r'",
    ("merge.plan", "nokey"): "merge.plan: there is no key 'nokey'",
    ("merge.plan", ""): "merge.plan needs a key",
    ("merge.plan", "c"): "merge.plan: c is the key of merge.commit already",
    ("merge.commit", "k"): "merge.commit: k is the key of grid.up already",
    ("merge.plan", "ctrl+q"): "merge.plan: ctrl+q is the key of app.quit already",
    ("app.help", "r"): "app.help: r is the key of",
}


@pytest.mark.parametrize(("binding_id", "keys"), REFUSED)
def test_a_key_that_cannot_be_used_is_told_of_and_the_old_one_stays(binding_id: str, keys: str) -> None:
    usable, complaints = checked_keymap({binding_id: keys})
    assert usable == {}
    assert REFUSED[binding_id, keys] in complaints[0]


def test_two_keys_may_be_swapped() -> None:
    wanted = {"merge.save": "y", "merge.copy": "s"}
    assert checked_keymap(wanted) == (wanted, [])


async def test_a_bad_keymap_is_told_of_when_the_console_opens(backend: FakeBackend) -> None:
    Path(backend.home, "settings.toml").write_text('[keys]\nmerge.pln = "f6"\nmerge.plan = 7\n')
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("perhaps 'merge.plan'", "merge.plan must be a key in quotes")


def test_names_of_keys_are_those_on_the_keyboard() -> None:
    assert [key_name(key) for key in ("question_mark", "ctrl+r", "R", "f9")] == ["?", "ctrl+r", "shift+r", "F9"]


def strings_of_the_console() -> list[str]:
    """Every string that may come on its screens, without docstrings."""
    found = []
    for path in Path(keymap.__file__).parent.rglob("*.py"):
        tree = ast.parse("" if "cli" in path.parts else path.read_text())
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
        found += [node.value for node in strings if isinstance(node.value, str)]
    return found


def test_every_key_that_a_sentence_names_is_that_of_an_action() -> None:
    ids = {binding.id for bindings in all_bindings().values() for binding in bindings}
    named = {found for text in strings_of_the_console() for found in keymap._MARK.findall(text)}
    assert len(named) > 15
    assert named <= ids


def test_no_sentence_names_a_default_key_of_the_console() -> None:
    """Those that are left are keys of Textual's own widgets, or are not to be changed."""
    allowed = {"ctrl+c copies", "ctrl+n offers"}
    named = re.compile(r"\b(?:F[0-9]+|ctrl\+[a-z])\b(?: \w+)?|\b[a-zA-Z] (?:plans|makes|takes|cancels|starts|lists)\b")
    for text in strings_of_the_console():
        found = set(named.findall(text)) - allowed if " " in text else set()
        assert not found, repr(text)


async def test_sentences_name_the_keys_that_were_chosen(backend: FakeBackend) -> None:
    chosen = {"merge.plan": "f3", "app.restart_spark": "f12", "tables.merge": "M", "history.undo": "z,f6"}
    lines = "\n".join(f'"{name}" = "{key}"' for name, key in chosen.items())
    Path(backend.home, "settings.toml").write_text(f"[keys]\n{lines}\n")
    async with console(backend, size=(120, 40)) as operator:
        await operator.warm()
        await operator.until(lambda: operator.app.keymap)
        await operator.press("2")
        await operator.sees("press shift+m on a table. F3 plans it")
        await operator.press("escape", "3")
        await operator.sees("z takes it back")
        operator.app.backend.die()  # type: ignore[attr-defined]
        operator.app._check_alive()
        await operator.sees("F12 starts it again")


async def test_create_names_its_own_keys_in_what_it_shares_with_merge(backend: FakeBackend) -> None:
    Path(backend.home, "settings.toml").write_text('[keys]\n"create.plan" = "f3"\n"create.cancel" = "f6"\n')
    backend.hold("plan")
    async with console(backend, size=(120, 40)) as operator:
        await operator.warm()
        await operator.until(lambda: operator.app.keymap)
        await operator.press("4", "ctrl+t")
        operator.create.use_text("CREATE TABLE t (id INT) USING delta")
        await operator.sees("F3 plans it")
        await operator.press("f3")
        await operator.sees("F6 cancels")
        backend.release("plan")


async def test_each_entry_of_the_key_line_can_be_clicked(backend: FakeBackend) -> None:
    async with console(backend, size=(200, 36)) as operator:
        for place in "123456":
            await operator.press(place)
            await operator.warm()
            for entry in hints(operator.app.screen.active_bindings.values()):
                for _, action in entry.keys:
                    assert parse(f"screen.press({action!r})")[2] == (action,)
        await operator.plan(MERGE_SQL)
        at = operator.keys.index("d why")
        await operator.pilot.click(offset=(at + 2, 35))
        await operator.until(lambda: operator.merge.preview.view == "decision")
        at = operator.keys.index("[ ] views")
        await operator.pilot.click(offset=(at + 2, 35))
        await operator.until(lambda: operator.merge.preview.view != "decision")


def possible_keys(dialog: HelpDialog) -> set[str]:
    """The keys that the help lists without saying that they do nothing now."""
    found: set[str] = set()
    is_possible = False
    for one in dialog.help_text():
        if one.body.plain.startswith("Keys "):
            is_possible = not one.body.plain.endswith((", not now", ", after esc"))
        elif is_possible and one.lead.plain.strip():
            found.add(one.body.plain)
    return found


async def test_the_help_says_which_keys_do_nothing_now(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        await operator.sees("Spark accepts it")
        told = {}
        for view in ("text", "preview"):
            told[view] = possible_keys(await operator.help())
            await operator.press("escape")
            if view == "text":
                await operator.plan(MERGE_SQL)
    save, save_plan = "Save this merge under a name", "Save the plan as a file"
    assert [any(one.startswith(save) for one in told[view]) for view in told] == [True, False]
    assert [any(one.startswith(save_plan) for one in told[view]) for view in told] == [False, True]
    history = "Go to the history of this operation"
    assert not any(history in told[view] for view in told)


async def test_of_two_actions_of_one_key_the_help_tells_of_the_possible_one(backend: FakeBackend) -> None:
    backend.plans = [a_refused_plan()]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        dialog = await operator.help()
        assert "Why this plan cannot be committed" in possible_keys(dialog)
        assert "Commit exactly this plan; asks first" not in [one.body.plain for one in dialog.help_text()]


def keys_told(dialog: HelpDialog) -> dict[str, list[str]]:
    """The keys that the help lists, by the title above them."""
    found: dict[str, list[str]] = {}
    title = ""
    for one in dialog.help_text():
        if one.body.plain.startswith("Keys "):
            title = one.body.plain
        elif one.lead.plain.strip():
            found.setdefault(title, []).extend(one.lead.plain.strip().split(", "))
    return found


async def test_the_help_on_a_text_lists_no_key_that_is_typed_into_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        await operator.sees("Spark accepts it")
        told = keys_told(await operator.help())
        assert {"ctrl+r", "F5"} <= set(told["Keys of this place"])
        assert {"alt+1", "F1", "ctrl+p"} <= set(told["Keys everywhere"])
        now = {key for title in told if not title.endswith(("not now", "after esc")) for key in told[title]}
        assert not {key for key in now if len(key) == 1 or key.startswith("shift+")}
        assert told["Keys of this place, after esc"] == ["y"]


KNOWN_TO_ALL = (
    *("cursor", "delete", "page", "scroll", "home", "end", "cut", "copy", "paste", "submit", "toggle"),
    *("screen.copy", "app.focus"),
)
"""How the actions of Textual's own keys begin that any text, list or page has."""


@pytest.mark.parametrize("keys", [*"123456", ("2", "ctrl+t")])
async def test_the_help_tells_of_every_key_that_does_something_but_those_that_everybody_knows(
    backend: FakeBackend, keys: tuple[str, ...]
) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press(*keys)
        await operator.until(lambda: operator.app.focused)
        active = operator.app.screen.active_bindings
        dialog = await operator.help("f1")
        told = {key for found in keys_told(dialog).values() for key in found}
        missing = {key_name(key): one.binding.action for key, one in active.items() if key_name(key) not in told}
        assert not {
            key: action
            for key, action in missing.items()
            if not key.startswith(("super+", "ctrl+shift+")) and not action.startswith(KNOWN_TO_ALL)
        }
        assert "Tab goes to the next part of the screen" in " ".join(one.body.plain for one in dialog.help_text())


async def test_the_help_on_a_dialog_lists_no_key_of_the_place_below(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan")
        told = keys_told(await operator.help())
        assert told["Keys of this dialog"] == ["ctrl+y", "F1", "esc", "page down", "page up", "→", "←"]
        assert told["Keys everywhere"] == ["ctrl+c", "ctrl+q"]
        assert "F1" not in told["Keys everywhere, not now"]


async def test_help_is_given_on_the_palette_too(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("ctrl+p", *"go to log")
        await operator.sees("Go to Log")
        palette = operator.app.screen
        told = keys_told(await operator.help())
        await operator.sees("Every action by name.")
        assert told["Keys of this dialog"] == ["F1"]
        await operator.press("escape")
        await operator.until(lambda: operator.app.screen is palette)
        await operator.press("enter")
        await operator.sees("The console opened on local[*].")


async def test_the_help_on_the_sql_of_a_table_to_create_tells_of_no_merge(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("4", "ctrl+t")
        operator.create.editor.focus()
        dialog = await operator.help()
        lines = [one.body.plain for one in dialog.help_text()]
        assert any(line.startswith("SQL to type") for line in lines)
        assert not [line for line in lines if "merge" in line.lower() and line != "Go to Merge"]


@pytest.mark.parametrize("place", ["1", "3"])
async def test_a_slash_that_would_be_typed_into_the_filter_is_not_offered(backend: FakeBackend, place: str) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press(place)
        await operator.until(lambda: "/ filter" in operator.keys)
        await operator.press("slash")
        await operator.until(lambda: "/ filter" not in operator.keys)
        told = keys_told(await operator.help())
        assert "/" not in told["Keys of this place"]
        assert "/" in told["Keys of this place, after esc"]


async def test_the_help_on_a_list_tells_of_each_key_once(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+o")
        await operator.sees("type to narrow down")
        told = keys_told(await operator.help())
        assert told["Keys of this dialog"] == ["↓", "ctrl+n", "↑", "page down", "page up", "F1", "esc"]
        assert told["Keys of this dialog, not now"] == ["F9"]
