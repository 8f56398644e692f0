"""Keys at random, answers at any time: nothing crashes, and nothing is written that nobody confirmed."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest
from textual.widgets import Button

from console.dialogs.commit import CommitDialog
from console.dialogs.confirm import ConfirmDialog
from console.dialogs.writing import WritingDialog
from console.keymap import all_bindings
from console.words.format import short_id
from engine.model.plans import AnyPlan
from tests.console import samples
from tests.console.drive import Clock, Operator, console
from tests.console.fake_backend import Report
from tests.console.naming_backend import NamingBackend, a_long_ledger
from tests.console.test_late_answers import check

KEYS_OF_A_CONSOLE = 100
READABLE_SECONDS = 0.7
# by themselves, random keys hardly ever come to a dialog that writes
TOWARDS_WRITING: tuple[tuple[str, ...], ...] = (
    ("alt+2", "ctrl+r"),
    ("alt+2", "escape", "v", "c"),
    ("alt+3", "u"),
    ("alt+3", "down", "u"),
    ("alt+4", "ctrl+r"),
    ("alt+4", "escape", "v", "c"),
    ("escape",),
    ("ctrl+y",),
    ("ctrl+y",),
    ("tab", "enter"),
)
SECONDS = (0.0, 0.0, 0.1, 0.4, 0.69, 0.7, 2.0)
WRITES = ("apply", "undo")
MERGES = (samples.a_plan, samples.a_plan, samples.a_warned_plan, samples.a_refused_plan)
CREATES = (samples.a_create_plan, samples.a_create_plan, samples.a_refused_create)


class FuzzedBackend(NamingBackend):
    """Each plan is another one, and has an id of its own."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        super().__init__(home)
        self.waiting = []
        self.ledger = [*a_long_ledger(), *samples.a_ledger()]
        self.deviates = chance.random() < 0.3
        self._chance = chance
        self._ids = itertools.count(1)

    def plan(
        self, sql: str, params: Mapping[str, str], *, rows: int, operation_id: str, on_progress: Report, file: str = ""
    ) -> AnyPlan:
        usual = super().plan(sql, params, rows=rows, operation_id=operation_id, on_progress=on_progress, file=file)
        plan: AnyPlan = self._chance.choice(MERGES if usual.kind == "merge" else CREATES)()
        return plan.model_copy(update={"statement": usual.statement, "plan_id": f"{next(self._ids):012}"[::-1]})


def keys_of_help() -> list[str]:
    """Each key of help's own table, once."""
    return sorted({binding.key for bindings in all_bindings().values() for binding in bindings})


class Recording(Protocol):
    """A backend that keeps what it was asked for."""

    def called(self, method: str) -> list[tuple[object, ...]]: ...


@dataclass
class Witness:
    """Sees what an operator sees, and what reaches the backend; knows nothing of how dialogs guard themselves."""

    operator: Operator
    backend: Recording
    clock: Clock
    dialog: WritingDialog[object] | None = None
    since: float = 0.0
    confirmed: Counter[tuple[str, str]] = field(default_factory=Counter)
    too_soon: int = 0

    def look(self) -> None:
        """Before time goes on: which dialog can be read, and since when."""
        shown = self.operator.app.screen
        if shown is not self.dialog:
            self.dialog = shown if isinstance(shown, WritingDialog) else None
            self.since = self.clock.seconds

    def presses(self, key: str) -> None:
        """Right before a key: what it may write."""
        write = self._write_of(key)
        if write is None:
            return
        # seconds are sums of tenths
        if self.clock.seconds - self.since >= READABLE_SECONDS - 1e-6:
            self.confirmed[write] += 1
        else:
            self.too_soon += 1

    def _write_of(self, key: str) -> tuple[str, str] | None:
        focused = self.operator.app.focused
        on_button = isinstance(focused, Button) and focused.id == "confirm" and key in ("enter", "space")
        if self.dialog is None or not (key == "ctrl+y" or on_button):
            return None
        subject = self.dialog.title_text().rpartition(" ")[2]
        if isinstance(self.dialog, CommitDialog):
            return "apply", subject
        return ("undo", subject) if isinstance(self.dialog, ConfirmDialog) else None

    def writes(self) -> Counter[tuple[str, str]]:
        """What reached the backend."""
        return Counter(
            (method, short_id(str(arguments[0])) if method == "apply" else str(arguments[0]))
            for method in WRITES
            for arguments in self.backend.called(method)
        )

    def check(self) -> None:
        """Each write was confirmed, as often as it was done."""
        assert not self.writes() - self.confirmed
        faults = [line.text for line in self.operator.app.log_lines if "INTERNAL_ERROR" in line.text]
        assert not faults, faults[0]


@dataclass
class Totals:
    keys: int = 0
    consoles: int = 0
    writes: int = 0
    too_soon: int = 0

    def count(self, pressed: list[str], witness: Witness) -> None:
        """One console more."""
        self.keys += len(pressed)
        self.consoles += 1
        self.writes += witness.writes().total()
        self.too_soon += witness.too_soon


async def random_moves(
    witness: Witness, chance: random.Random, keys: int, pressed: list[str], before_key: Callable[[], Awaitable[None]]
) -> AsyncIterator[tuple[str, ...]]:
    """Press random keys until the console is left or ``keys`` are ``pressed``; the moves, as they are made."""
    operator, table = witness.operator, keys_of_help()
    while len(pressed) < keys and operator.app.is_running:
        move = chance.choice(TOWARDS_WRITING) if chance.random() < 0.3 else (chance.choice(table),)
        for key in move:
            await before_key()
            witness.look()
            witness.clock.seconds += chance.choice(SECONDS)
            pressed.append(key)
            witness.presses(key)
            await operator.press(key)
            witness.check()
        yield move


async def fuzz(seed: int, keys: int, home: Path, totals: Totals, pressed: list[str]) -> None:
    """One console, until it is left or ``keys`` are pressed."""
    chance = random.Random(seed)
    backend = FuzzedBackend(home, chance)
    size = chance.choice(((80, 24), (120, 36)))
    async with console(backend, size=size, open_sql=samples.MERGE_SQL) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        clock.stands = True
        witness = Witness(operator, backend, clock)

        async def answer_some() -> None:
            check(operator)
            while backend.waiting and chance.random() < 0.5:
                backend.answer(chance.randrange(10))
                await asyncio.sleep(0.001)

        async for _ in random_moves(witness, chance, keys, pressed, answer_some):
            check(operator)
        while backend.waiting:
            backend.answer(0)
        await operator.pilot.pause()
        witness.check()
    totals.count(pressed, witness)


async def fuzz_consoles(
    request: pytest.FixtureRequest, fuzz_one: Callable[[int, int, Totals, list[str]], Awaitable[None]]
) -> Totals:
    """One console after the other, each from its seed, until all keys that were asked for are pressed."""
    wanted, seed = request.config.getoption("--keys"), request.config.getoption("--keys-from")
    totals = Totals()
    while totals.keys < wanted:
        pressed: list[str] = []
        try:
            await fuzz_one(seed, min(KEYS_OF_A_CONSOLE, wanted - totals.keys), totals, pressed)
        except BaseException:
            print(f"--keys-from {seed}, after: {' '.join(pressed)}")
            raise
        seed += 1
    return totals


async def test_random_keys_crash_nothing_and_write_nothing_that_nobody_confirmed(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VISUAL", "true")

    async def fuzz_one(seed: int, keys: int, totals: Totals, pressed: list[str]) -> None:
        home = tmp_path / str(seed)
        home.mkdir()
        await fuzz(seed, keys, home, totals, pressed)

    print(await fuzz_consoles(request, fuzz_one))
