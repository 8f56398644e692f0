"""The merges that people build by hand, made of names of tables and columns."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import click
import pytest

from console.cli.template_command import check_options, fill
from console.statements.forms import FORMS, Form, expectations, form_of, proposed
from console.statements.templates import Sides, sides
from engine.expect.read_expectations import read_expectations
from engine.model.browse import Column
from engine.sql.parse import parse_merge

FULL = Form("t", "feed", ("id", "from"), ("id", "from", "v", "w", "seq"), ("v", "w", "seq"), "seq", "op = 'D'", "gone")
BARE = form_of(Sides("t"))
ODD = Form(
    "t", "(SELECT * FROM feed)", ("a`b", "c, d"), ("a`b", "c, d", "x\n--y", *(f"long_{n:02}" for n in range(20)))
)
FORM = {"full": FULL, "bare": BARE, "odd": ODD}


def columns(*names: str, type_: str = "string") -> list[Column]:
    return [Column(name=name, type=type_) for name in names]


@pytest.mark.parametrize("of", FORM.values(), ids=FORM)
@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_a_merge_with_expectations(name: str, of: Form) -> None:
    label, what, text = FORMS[name]
    statement = parse_merge(text(of))
    assert label
    assert what
    assert (statement.target.text, statement.target.alias, statement.source.alias) == ("t", "t", "s")
    keyed = " AND ".join(
        {"full": ["t.id = s.id", "t.from = s.from"], "bare": ["t.id = s.id"]}.get(
            next(key for key, value in FORM.items() if value is of), ["t.`a``b` = s.`a``b`", "t.`c, d` = s.`c, d`"]
        )
    )
    assert statement.condition == keyed + (" AND t.valid_from = s.valid_from" if name == "scd2" else "")
    expected = [one.expectation for one in read_expectations(expectations(name, of))]
    assert [one.kind for one in expected] == ["history" if name == "scd2" else "unique", "not_null"]
    assert expected[1].columns[: len(of.key)] == of.key


@pytest.mark.parametrize("name", FORMS)
def test_what_must_hold_is_a_comment_that_ends_nothing(name: str) -> None:
    known = Sides("`a\nb`.t", "feed", "x\r\n--y", common=("x\r\n--y", "v"), comparable=("v",))
    text = proposed(name, known)
    assert parse_merge(text).source.alias == "s"
    of_comment = text[text.index("-- for expect/FILE.yml") :]
    assert all(line.startswith("--") for line in of_comment.splitlines())


def test_a_deletion_marks_the_row_if_the_target_has_a_mark() -> None:
    (matched, inserted) = parse_merge(FORMS["cdc"][2](FULL)).clauses
    assert matched.condition == "coalesce(s.seq > t.seq, true)"
    assert "coalesce(op = 'D', false) AS gone" in FORMS["cdc"][2](FULL)
    assert dict(matched.assignments)["gone"] == "s.gone"
    assert dict(inserted.assignments)["gone"] == "s.gone"
    unmarked = FORMS["cdc"][2](Form("t", "feed", columns=("id", "seq"), sequence="seq"))
    assert "coalesce(op" not in unmarked
    assert "unique: [id]\n- not_null: [id, seq]" in expectations("cdc", Form("t", "feed", sequence="seq"))


@pytest.mark.parametrize("name", ["cdc", "scd2"])
def test_the_values_before_an_update_are_no_change(name: str) -> None:
    of = replace(FULL, delete="_change_type = 'delete'")
    assert "AND _change_type <> 'update_preimage'" in FORMS[name][2](of)
    assert "update_preimage" not in FORMS[name][2](FULL)


def test_a_sequence_is_no_value_however_it_is_written() -> None:
    of = Form("t", "feed", columns=("id", "v", "Seq"), compared=("v", "Seq"), sequence="seq")
    assert "NOT struct(v)\n" in FORMS["scd2"][2](of)


def test_a_column_that_the_target_lacks_is_told() -> None:
    assert "-- t needs at: without it" in FORMS["cdc"][2](Form("t", "feed", columns=("id",), sequence="at"))
    assert "-- t needs a column for op = 'D'" in FORMS["cdc"][2](Form("t", "feed", sequence="at", delete="op = 'D'"))
    assert "needs" not in FORMS["cdc"][2](FULL)


def test_what_cannot_be_compared_is_told() -> None:
    of = Form("t", "feed", columns=("id", "v", "m"), compared=("v",), sequence="at")
    assert "-- m cannot be compared: what differs there alone is not updated" in FORMS["scd1"][2](of)
    assert "DISTINCT id" not in FORMS["scd1"][2](of)
    assert "-- m cannot be compared: what differs there alone begins no version" in FORMS["scd2"][2](of)
    assert "NOT struct(v)\n" in FORMS["scd2"][2](of)


@pytest.mark.parametrize("name", ["scd1", "cdc"])
def test_what_has_only_its_key_in_both_is_inserted_alone(name: str) -> None:
    sql = FORMS[name][2](form_of(sides("t", columns("id", "v"), "feed", columns("id", "w"))))
    assert "-- beside id both have no column to compare and update" in sql
    assert [clause.kind for clause in parse_merge(sql).clauses] == ["not_matched"]
    assert "value" not in sql


def test_names_of_ours_are_none_of_the_tables() -> None:
    text = FORMS["scd2"][2](Form("t", "feed", columns=("id", "_gone", "_RANK"), compared=("_gone", "_RANK")))
    assert "false AS __gone, 1 AS __rank" in text


def test_the_names_of_the_columns_say_what_they_are() -> None:
    flag = columns("deleted", type_="boolean")
    current = columns("current", type_="boolean")
    target = [*columns("id", "v", "effective_from", "end_date"), *flag, *current]
    found = form_of(sides("shop.t", target, "f", columns("ID", "v", "op", "LSN", "updated_at")))
    assert (found.key, found.columns, found.sequence) == (("id",), ("id", "v"), "LSN")
    assert (found.delete, found.deleted, found.guessed) == ("upper(op) IN ('D', 'DELETE')", "deleted", True)
    assert "-- that upper(op) IN ('D', 'DELETE') is a deletion is a guess" in FORMS["cdc"][2](found)
    assert "is a guess" in FORMS["scd2"][2](found)
    assert (found.since, found.until, found.current) == ("effective_from", "end_date", "current")
    in_both = form_of(sides("t", columns("id", "updated_at"), "f", columns("id", "seq", "updated_at")))
    assert in_both.sequence == "updated_at"
    of_delta = form_of(sides("t", columns("id"), "f", columns("id", "_change_type", "_commit_version")))
    assert (of_delta.delete, of_delta.deleted, of_delta.guessed) == ("_change_type = 'delete'", "", False)
    both = [*columns("id"), *flag]
    marked = form_of(sides("t", both, "f", [*both, *columns("op")]))
    assert (marked.delete, marked.deleted, marked.guessed) == ("deleted", "deleted", False)


def test_a_mark_is_a_boolean_and_an_operation_a_text() -> None:
    target, source = columns("id", "deleted", type_="timestamp"), columns("id", "deleted", "op", type_="int")
    found = form_of(sides("t", target, "f", source))
    assert (found.delete, found.deleted) == ("", "")
    text = form_of(sides("t", target, "f", [*source[:2], *columns("op", type_="varchar(1)")]))
    assert (text.delete, text.deleted) == ("upper(op) IN ('D', 'DELETE')", "")


TARGET = [*columns("Id", "part", "v", "Seq", "valid_from", "valid_to"), *columns("gone", "is_current", type_="boolean")]
SOURCE = columns("id", "PART", "v", "seq", "op")
NOTHING = dict.fromkeys(("sequence", "delete", "deleted", "since", "until", "current"))


def filled(kind: str, *key: str, **given: str) -> Form:
    form = form_of(sides("t", TARGET, "feed", SOURCE))
    return fill(kind, form, key, NOTHING | given, TARGET, SOURCE)


def test_what_is_typed_goes_before_what_the_names_say() -> None:
    form = filled("cdc", "ID", "part", deleted="GONE", delete="op = 'X'")
    assert (form.key, form.sequence, form.delete, form.deleted) == (("Id", "part"), "Seq", "op = 'X'", "gone")
    assert form.compared == ("v", "Seq")
    assert filled("scd1", "part").compared == ("v", "Seq", "Id")


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("scd1", {"sequence": "seq"}, "--sequence belongs to cdc, scd2, dedupe and not to scd1."),
        ("dedupe", {"delete": ""}, "--delete belongs to cdc, scd2 and not to dedupe."),
        ("scd2", {"deleted": "gone"}, "--deleted belongs to cdc and not to scd2."),
        ("cdc", {"since": "valid_from"}, "--from belongs to scd2 and not to cdc."),
        ("cdc", {"until": "valid_to"}, "--to belongs to scd2 and not to cdc."),
        ("cdc", {"current": "is_current"}, "--current belongs to scd2 and not to cdc."),
        ("cdc", {"deleted": "gone", "delete": ""}, "--deleted marks deletions"),
    ],
)
def test_an_option_of_another_form_is_a_usage_error(kind: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(click.UsageError, match=re.escape(message)):
        check_options(kind, NOTHING | given)
    check_options("cdc", NOTHING | {"delete": "", "sequence": "seq"})


def test_a_feed_without_deletions_is_one_whose_condition_is_empty() -> None:
    assert filled("cdc", delete="").delete == ""


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("cdc", {}, "--deleted is missing"),
        (
            "cdc",
            {"sequence": "id"},
            "id is no column of both tables beside the key: name the one that is meant with --",
        ),
        (
            "cdc",
            {"sequence": "op", "deleted": "gone"},
            "op is no column of both tables beside the key: name the one that is meant with --sequence (part, v, Seq).",
        ),
        (
            "cdc",
            {"deleted": "v"},
            "v is no column of the target with the type BOOLEAN: name the one that is meant with --deleted",
        ),
        (
            "scd2",
            {"sequence": "no"},
            "no is no column of the source beside the key: name the one that is meant with --sequence",
        ),
        ("scd2", {"until": "op"}, "op is no column of the target: name the one that is meant with --to"),
        (
            "scd2",
            {"current": "v"},
            "v is no column of the target with the type BOOLEAN: name the one that is meant with --current",
        ),
    ],
)
def test_a_column_that_is_not_there_is_a_usage_error(kind: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(click.UsageError, match=re.escape(message)):
        filled(kind, **given)
    with pytest.raises(click.UsageError, match="gone is no column of both tables"):
        filled(kind, "gone")


def test_tables_without_a_common_column_are_told_so_and_not_of_a_column_that_nobody_named() -> None:
    with pytest.raises(click.UsageError, match="The two tables have no column of one name"):
        fill("cdc", form_of(sides("t", TARGET, "feed", columns("x"))), (), NOTHING, TARGET, columns("x"))
