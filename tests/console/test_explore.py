"""The scan explorer: which files of a table a predicate leaves, and why each is kept or skipped."""

from __future__ import annotations

import dataclasses

from textual.widgets import Input

from console.places.tables.scan_page import DERIVED, KEPT, PARTITION, STATISTICS, page_of, verdict, why
from console.places.tables.tables import TablesPlace
from console.widgets.grid import Grid
from console.widgets.table_tree import TableTree
from engine.explore.scan_explorer import Size
from engine.explore.skipping import ColumnFacts, Evidence, FileEvidence
from engine.model.errors import EngineError
from tests.console import samples
from tests.console.drive import ORDERS, Operator, console
from tests.console.fake_backend import FakeBackend


async def explore(operator: Operator, predicate: str = "amount > 100") -> None:
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "enter")
    await operator.sees("bigint")
    await operator.press("e")
    await operator.sees("Type what would stand after WHERE")
    await operator.press(*predicate, "enter")


async def test_e_asks_for_a_predicate_and_shows_what_each_step_leaves(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await explore(operator)
        await operator.sees(
            *("40 files, 934 MB in 30 partitions, v41", "14 files, 322 MB in 14 partitions", "3 files, 69 MB"),
            *("derived filter", "((year >= 2026) OR isnull((year >= 2026)))"),
        )
        assert backend.called("explore_scan") == [("sales.orders", "amount > 100", 41)]


async def test_the_key_that_asks_for_another_predicate_is_named_at_80_columns(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await explore(operator)
        await operator.sees("3 files, 69 MB")
        assert "e explore" in operator.keys


async def test_each_file_has_its_verdict_in_the_map_and_in_the_table_those_kept_first(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await explore(operator)
        await operator.sees(f"kkk{'p' * 20}{'g' * 6}{'s' * 11}", "k kept 3", "p partition 20")
        await operator.sees("s statistics 11", "g derived filter 6")
        lines = [line for line in operator.screen.splitlines() if "parquet" in line]
        assert ["k kept " in line for line in lines[:4]] == [True, True, True, False]
        assert "order_date = 2026" in operator.screen
        # what the predicates say is foreign text
        assert "\x1b" not in operator.screen
        await operator.press("enter")
        await operator.sees("129.90")
        await operator.press("y")
        assert "amount from 0.10 to 129.90 for amount > 100 -- [/x] \\x1b" in operator.app.clipboard


def test_a_file_is_skipped_by_what_the_evidence_says() -> None:
    found = samples.a_scan("x")
    verdicts = [verdict(path, found) for path in found.paths]
    assert verdicts == [PARTITION] * 20 + [DERIVED] * 6 + [STATISTICS] * 11 + [KEPT] * 3


def test_what_is_not_known_of_partitions_is_told_as_a_bound() -> None:
    found = samples.a_scan("x")
    heads = [page_of(one).head for one in (found, dataclasses.replace(found, unasked=found.generated))]
    told = ["".join(line.body.plain for line in head) for head in heads]
    assert ["at most 14 files" in one for one in told] == [False, True]


def test_a_table_without_partitions_says_why_a_constant_is_called_one_of_partitions() -> None:
    found = dataclasses.replace(samples.a_scan("1 = 0"), before=Size(40, 934_000_000, 1))
    heads = [page_of(one).head for one in (samples.a_scan("x"), found)]
    told = ["".join(line.body.plain for line in head) for head in heads]
    assert ["What names no column" in one for one in told] == [False, True]


def test_a_predicate_about_no_column_is_no_reason_to_keep_a_file() -> None:
    found = samples.a_scan("true")
    kept = found.files[39]
    of_true = Evidence("true", True, ())
    with_it = FileEvidence(kept.path, True, 5, (of_true, *kept.evidence))
    assert why(with_it, found) == why(kept, found)
    assert why(FileEvidence(kept.path, True, 5, (of_true,)), found) == "no predicate names a column"
    skipped = FileEvidence("other", False, 5, (Evidence("false", False, ()),))
    assert why(skipped, found) == "false"


def test_a_file_that_partitions_prune_says_so_first_though_statistics_tell_the_same() -> None:
    found = samples.a_scan("amount > 100 AND region = 'EU'")
    by_statistics = Evidence("amount > 100", False, (ColumnFacts("amount", False, "1", "9", 0),))
    by_partition = Evidence("region = 'EU'", False, (ColumnFacts("region", True, "US", "US", None),))
    pruned = FileEvidence(found.files[0].path, False, 5, (by_statistics, by_partition))
    assert verdict(pruned.path, found) == PARTITION
    assert why(pruned, found).startswith("region = US for region = 'EU'; amount from 1 to 9")


async def test_a_predicate_that_spark_refuses_says_why_and_stays_to_be_mended(backend: FakeBackend) -> None:
    backend.errors["explore_scan"] = EngineError("UNRESOLVED_COLUMN", "A column `[/x]` cannot be resolved.", "")
    async with console(backend) as operator:
        await explore(operator, "x = 1")
        await operator.sees("[UNRESOLVED_COLUMN] A column `[/x]` cannot be resolved.", "x = 1")
        del backend.errors["explore_scan"]
        await operator.press("0", "enter")
        await operator.sees("3 files, 69 MB")
        assert backend.called("explore_scan")[-1] == ("sales.orders", "x = 10", 41)


async def test_a_mistake_has_its_hint_and_its_place_where_the_cursor_goes(backend: FakeBackend) -> None:
    hint = "Check the column's name and its alias."
    backend.errors["explore_scan"] = EngineError("UNRESOLVED_COLUMN", "No `x`.", hint, line=1, column=11)
    async with console(backend) as operator:
        await explore(operator, "a = 1 AND x = 1")
        await operator.sees("[UNRESOLVED_COLUMN] No `x`.", hint, "column 11: x = 1")
        assert operator.app.screen.query_one("#predicate", Input).cursor_position == 10
        backend.errors["explore_scan"] = EngineError("PARSE_SYNTAX_ERROR", "More.", hint, line=1, column=12)
        await operator.press("end", *["backspace"] * 5, "enter")
        await operator.sees("More.", "at its end")


async def test_a_key_leads_from_the_predicate_to_its_files(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await explore(operator)
        await operator.sees("3 files, 69 MB")
        await operator.press("e")
        await operator.until(lambda: "esc to the result" in operator.keys)
        await operator.press("escape")
        await operator.until(lambda: isinstance(operator.app.focused, Grid))
        assert "esc to the list" in operator.keys
        assert len(backend.called("explore_scan")) == 1
        await operator.press("escape")
        await operator.until(lambda: isinstance(operator.app.focused, TableTree))


async def test_files_are_shown_below_the_predicate_that_they_are_of(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await explore(operator, "a = 1")
        await operator.sees("predicate         a = 1", "3 files, 69 MB")
        # another one is typed, and not asked
        await operator.press("e", "backspace", "2", "escape", "right_square_bracket", "left_square_bracket")
        await operator.sees("a = 2", "predicate         a = 1", "3 files, 69 MB")
        place = operator.app.screen
        assert isinstance(place, TablesPlace)
        place.open_table("sales.orders", 40)
        await operator.sees("as of version 40")
        await operator.press("e")
        await operator.sees("predicate         a = 1", "3 files, 69 MB")
        assert backend.called("explore_scan") == [("sales.orders", "a = 1", 41)]
        await operator.press("enter")
        await operator.sees("predicate         a = 2")
        assert backend.called("explore_scan")[1:] == [("sales.orders", "a = 2", 41)]


async def test_another_table_begins_without_a_predicate(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await explore(operator)
        await operator.sees("3 files, 69 MB")
        operator.app.screen.open_table("sales.customers")  # type: ignore[attr-defined]
        await operator.sees("sales.customers", "Type what would stand after WHERE")
        assert len(backend.called("explore_scan")) == 1


async def test_no_key_is_named_that_would_be_typed(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        await operator.press("e")
        await operator.sees("or a whole query, into the field above; enter asks")
        assert "e goes there" not in operator.screen
        # beside the field the key works, and is named
        operator.app.screen.page.focus_page()  # type: ignore[attr-defined]
        await operator.until(lambda: "e explore" in operator.keys)


async def test_a_whole_query_is_explored_scan_by_scan(backend: FakeBackend) -> None:
    async with console(backend, size=(180, 36)) as operator:
        await explore(operator, "select 1")
        await operator.sees("query  select 1", "Equal scans are listed once", "files left")
        await operator.sees("sales.orders 3 69 MB exact 40 934 MB v41 2")
        await operator.sees(
            "exact", "isnotnull(amount) AND (amount > 100 [/x] \\x1b)", "as written", "estimated", "none"
        )
        assert backend.called("explore_query") == [("select 1",)]
        assert not backend.called("explore_scan")
