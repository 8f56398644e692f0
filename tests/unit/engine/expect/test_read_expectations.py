"""Files of expectations: what is right is read as typed, what is wrong is told with its line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commit.verify import as_accepted
from engine.expect.read_expectations import Declared, read_expectations, read_files
from engine.model.errors import UsageError

GOOD = """
demo.orders:
  - unique: [order_id]
  - not_null: [a, b]
    severity: warn
  - accepted: {country: [NO, yes, 01]}
  - rows: {min: 1, change: 10%}
  - freshness: {updated_at: 1 day}
  - history: {key: [k], current: c, from: f, to: t}
  - sql: SELECT * FROM after
    name: by_hand
    timeout: 30s
'a.`b.c`':
  - unique: [x y]
"""


def read(text: str) -> list[Declared]:
    return list(read_expectations(text, "f.yml"))


def test_each_kind_has_a_name_and_is_read_as_it_is_typed() -> None:
    found = read(GOOD)
    assert [one.expectation.name for one in found] == [
        "unique_order_id",
        "not_null_a_b",
        "accepted_country",
        "rows",
        "freshness_updated_at",
        "history_k_c_f_t",
        "by_hand",
        "unique_x_y",
    ]
    by_name = {one.expectation.name: one.expectation for one in found}
    assert by_name["accepted_country"].accepted == {"country": ("NO", "yes", "01")}
    assert by_name["freshness_updated_at"].freshness == {"updated_at": 86_400}
    assert by_name["history_k_c_f_t"].columns == ("k", "c", "f", "t")
    assert (by_name["by_hand"].timeout, by_name["rows"].timeout) == (30, 300)
    assert by_name["not_null_a_b"].severity == "warn"
    rows = by_name["rows"].rows
    assert rows is not None
    assert str(rows.change) == "0.1"
    assert (found[-1].table, found[-1].line) == (("a", "b.c"), 14)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: [", 1, 5, "it is no YAML"),
        ("a:\n\t- unique: [x]", 2, 1, "it is no YAML"),
        ("a: 1\n---\nb: 2", 2, 1, "it is no YAML"),
        ("[1]", 1, 1, "a file has tables"),
        ("a:\n  unique: [x]", 2, 3, "below a stands a list"),
        ("a: []\n'x y z': []", 2, 1, "'x y z' is no name of a table"),
        ("a:\n  - x", 2, 5, "an expectation is a kind"),
        ("a:\n  - uniqe: [x]", 2, 5, "and it has none"),
        ("a:\n  - unique: [x]\n    rows: {min: 1}", 2, 5, "and it has unique and rows"),
        ("a:\n  - unique: [x]\n    sevrity: warn", 3, 5, "'sevrity' is unknown here"),
        ("a:\n  - unique: [x]\n    unique: [y]", 3, 5, "'unique' stands there twice"),
        ("a:\n  - unique: []", 2, 5, "unique: "),
        ("a:\n  - unique: x", 2, 5, "unique: a list is wanted: [a, b]"),
        ("a:\n  - sum: x", 2, 5, "sum: a mapping is wanted: {a: b}"),
        ("a:\n  - rows: 5", 2, 5, "rows: a mapping is wanted: {a: b}"),
        ("a:\n  - rows: {min: x}", 2, 12, "rows.min: a number is wanted"),
        ("a:\n  - rows: {change: -3%}", 2, 12, "'-3%' is no share"),
        ("a:\n  - rows: {}", 2, 5, "min, max or change is missing"),
        ("a:\n  - sum: {x: {chang: 3%}}", 2, 15, "'chang' is unknown here"),
        ("a:\n  - references: {x: y}", 2, 18, "'y' is no column of a table"),
        ("a:\n  - history: {key: [x], current: c, from: f}", 2, 5, "from and to come together"),
        ("a:\n  - timeout: 3x\n    unique: [x]", 2, 5, "'3x' is no duration"),
        ("a:\n  - name: two words\n    unique: [x]", 2, 5, "name: "),
        ("a:\n  - sql: SELECT 1", 2, 5, "an expectation in SQL needs a name"),
        ("? [a]\n: b", 1, 3, "a key is a text"),
        ("a:\n  - unique: [x, [y]]", 2, 17, "unique.1: "),
        ("a:\n  - accepted: {x: [[1]]}", 2, 20, "accepted.x.0: "),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    error = caught.value
    assert (error.condition, error.line, error.column) == ("BAD_EXPECTATIONS", line, column)
    assert error.message.startswith(f"f.yml, line {line}, column {column}: ")
    assert message in error.message


@pytest.mark.parametrize("text", ["", "# nothing yet"])
def test_an_empty_file_expects_nothing(text: str) -> None:
    assert read(text) == []


def test_an_alias_without_end_is_an_error() -> None:
    with pytest.raises(UsageError, match="nested too deeply"):
        read("x: &a [*a]")


def test_what_was_accepted_before_the_commit_is_warned_of_after_it(tmp_path: Path) -> None:
    (tmp_path / "e.yml").write_text("t:\n  - unique: [id]\n  - rows: {change: 5%}\n")
    found = as_accepted(read_files([str(tmp_path / "e.yml")]), ("expect:rows", "VOLATILE_SOURCE"))
    assert [(one.expectation.name, one.expectation.severity) for one in found] == [
        ("unique_id", "error"),
        ("rows", "warn"),
    ]


def test_a_folder_is_read_by_its_endings_and_a_name_stands_for_one(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("t:\n  - unique: [x]\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("u:\n  - unique: [x]\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no YAML: [", encoding="utf-8")
    assert [one.table for one in read_files([tmp_path])] == [("t",), ("u",)]
    (tmp_path / "b2.yml").write_text("T:\n  - unique: [x]\n", encoding="utf-8")
    assert [(one.file[-5:], one.table) for one in read_files([tmp_path])] == [("a.yml", ("t",)), (".yaml", ("u",))]
    (tmp_path / "c.yml").write_text("T:\n  - {name: Unique_X, rows: {min: 1}}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"c\.yml, line 2: Unique_X: .*a\.yml, line 2 has an expectation of that name"):
        read_files([tmp_path])


@pytest.mark.parametrize(
    ("data", "condition"),
    [(b"\xff\xfe", "NOT_UTF8"), (b" " * (1 << 20) + b" ", "FILE_TOO_BIG"), (None, "FILE_NOT_READ")],
    ids=["not UTF-8", "too big", "not there"],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, data: bytes | None, condition: str) -> None:
    file = tmp_path / "x.yml"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read_files([file])
    assert caught.value.condition == condition
