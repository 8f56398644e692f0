"""What a plan changes, in words."""

from __future__ import annotations

from console.words import change_rows
from console.words.glyphs import UNICODE
from engine.model.changes import Changes, ColumnChange, Concentration, Transition


def column(**update: object) -> ColumnChange:
    usual: dict[str, object] = {"name": "c", "type": "string", "changed": 3, "to_null": 1, "from_null": 0}
    return ColumnChange.model_validate({**usual, **update})


def changes(**update: object) -> Changes:
    usual: dict[str, object] = {"rows_before": 10, "inserted": 2, "updated": 4, "updated_same": 0, "deleted": 1}
    return Changes.model_validate({**usual, **update})


def test_rows_before_and_after_add_up() -> None:
    assert change_rows.conserved(changes()) == "10 rows + 2 inserted - 1 deleted = 11 rows"


def test_updates_to_the_same_values_are_counted() -> None:
    told = list(change_rows.sentences(changes(updated_same=3)))
    assert told[1] == "4 rows updated, 3 of them to the values that they have"
    told = list(change_rows.sentences(changes(updated_same=3, not_compared={"m": "a MAP"})))
    assert told[1] == "4 rows updated, 3 of them to the values that they have in the columns that are compared"
    assert len(list(change_rows.sentences(changes(updated=0)))) == 1


def test_a_concentration_has_its_share_and_that_of_the_table() -> None:
    one = Concentration(column="country", value="DE", rows=6, share=6 / 7, table_share=0.2)
    assert change_rows.concentrated(one, changes()) == (
        "86 % of the 7 rows inserted, updated or deleted have country = 'DE' (updated rows before the update), "
        "4.3 times its share of the table (20 %)"
    )
    assert "= 'DE' (before the update), " in change_rows.concentrated(one, changes(inserted=0))
    assert "of the 1 row deleted" in change_rows.concentrated(one, changes(inserted=0, updated=0))
    quoted = change_rows.concentrated(one.model_copy(update={"value": "x'y"}), changes())
    assert "country = 'x''y' (" in quoted, "as SQL writes it"
    assert "country IS NULL" in change_rows.concentrated(one.model_copy(update={"value": None}), changes())
    of_new = one.model_copy(update={"table_share": 0.0})
    assert change_rows.concentrated(of_new, changes()).endswith(
        "(updated rows before the update), which no row of the table has"
    )


def test_a_column_shows_its_sums_or_its_commonest_changes() -> None:
    number = column(type="decimal(10,2)", sum_before="1234.50", sum_after="1000.00")
    estimate = column(type="double", sum_before="1.5", sum_after="NaN", sums="estimated")
    text = column(transitions=(Transition(before="a\n", after=None, rows=2),))
    shown = [row[-1] for row in change_rows.rows(changes(columns=(number, estimate, text)), UNICODE)]
    assert shown == ["1,234.50 → 1,000.00", "≈ 1.5 → NaN", "a\\n → NULL (2)"]


def test_a_sum_that_is_not_known_is_a_question_mark() -> None:
    half = column(type="bigint", sum_before="5", sum_after=None)
    assert change_rows.rows(changes(columns=(half,)), UNICODE)[0][-1] == "5 → ?"


def test_a_sum_of_no_value_is_null() -> None:
    gone = column(type="bigint", sum_before="5", sum_after=None, changed=2, to_null=2)
    come = column(type="bigint", sum_before=None, sum_after="5", changed=2, from_null=2)
    shown = [row[-1] for row in change_rows.rows(changes(columns=(gone, come)), UNICODE)]
    assert shown == ["5 → NULL", "NULL → 5"]


def test_a_column_that_is_not_compared_says_why() -> None:
    told = change_rows.rows(changes(not_compared={"at": "current_timestamp()"}), UNICODE)
    assert told == [("at", "?", "?", "?", "unknown: current_timestamp()")]
