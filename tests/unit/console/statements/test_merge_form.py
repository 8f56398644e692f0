"""The form of a MERGE is a view on the operator's text: it changes a part where it stands, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from console.statements.clause_text import FormClause, clause_sql
from console.statements.merge_form import (
    MergeForm,
    Part,
    comments_between,
    place_of_new,
    read_form,
    with_clause,
    with_moved_clause,
    with_new_clause,
    with_part,
    without_clause,
)
from console.statements.templates import TEMPLATES, Sides
from tests.console.samples import MERGE_SQL

PARTS: tuple[Part, ...] = ("target", "target_alias", "source", "source_alias", "condition")

# Texts as operators have them: comments, quotes and brackets wherever they may stand

GAPS = st.sampled_from([" ", "\n", "  \n  ", " /* , ; WHEN */ ", " -- it's; ON\n", "\t", "\r\n"])
EXPRESSIONS = st.sampled_from(
    [
        *("s.a", "1", "'a, b; -- WHEN'", "coalesce(s.a, t.b)", "CASE WHEN a = 1 THEN 'x' ELSE NULL END"),
        *("(SELECT max(v) FROM u\n  WHERE x = 1)", "s.`a = b`", ":day", "x IN (1, 2)", "a BETWEEN 1 AND 2"),
    ]
)
NAMES = st.sampled_from(["orders", "sales.orders", "delta.`/a b/c`", "`on`.`when`", "cat.db.t"])
SOURCES = st.one_of(
    NAMES,
    st.sampled_from(
        ["(SELECT * FROM x -- ON\n WHERE a)", "parquet.`/x`", "(FROM feed VERSION AS OF 3)", "IDENTIFIER('a.b')"]
    ),
)
ALIASES = st.sampled_from(["", "t", "s", "`my t`"])
COLUMNS = st.lists(st.sampled_from(["a", "t.b", "`a = b`", "c.d", "e"]), min_size=1, max_size=4, unique=True)


@st.composite
def clauses(draw: st.DrawFn) -> FormClause:
    kind, action = draw(
        st.sampled_from(
            [
                *(("matched", "update"), ("matched", "delete"), ("not_matched", "insert")),
                *(("not_matched_by_source", "update"), ("not_matched_by_source", "delete")),
            ]
        )
    )
    star = action != "delete" and draw(st.booleans())
    pairs = [] if star or action == "delete" else [(column, draw(EXPRESSIONS)) for column in draw(COLUMNS)]
    condition = draw(st.one_of(st.just(""), EXPRESSIONS))
    return FormClause(kind, action, condition, star, tuple(pairs))  # type: ignore[arg-type]


@st.composite
def texts(draw: st.DrawFn) -> str:
    def gap() -> str:
        return draw(GAPS)

    def relation(name: str, alias: str, word: str) -> str:
        return f"{word}{gap()}{name}" + (f"{gap()}{draw(st.sampled_from(['AS ', '']))}{alias}" if alias else "")

    def spaced(clause: FormClause) -> str:
        # the blanks between the words of a clause, and a comma that stands on its own line
        sql = clause_sql(clause).replace(" THEN ", f"{gap()}THEN{gap()}").replace(" MATCHED", f"{gap()}MATCHED")
        pairs = dict(clause.assignments)
        return sql.replace(" SET a =", f"{gap()}SET{gap()}a{gap()}=") if "a" in pairs else sql

    before = draw(st.sampled_from(["", "SET a = ';';\n", "-- first; MERGE\n", "  \n", "USE x; -- y\nSET b = 1;"]))
    prefix = draw(st.sampled_from(["", "WITH x AS (SELECT 1) ", "with q AS (SELECT ')') "]))
    parts = [
        f"{prefix}MERGE{gap()}{draw(st.sampled_from(['', 'WITH SCHEMA EVOLUTION ']))}"
        + relation(draw(NAMES), draw(ALIASES), "INTO"),
        relation(draw(SOURCES), draw(ALIASES), "USING"),
        f"ON{gap()}{draw(EXPRESSIONS)}",
        *map(spaced, draw(st.lists(clauses(), min_size=1, max_size=4))),
    ]
    text = parts[0]
    for part in parts[1:]:
        text += gap() + part
    return before + text + draw(st.sampled_from(["", ";", "\n", " -- done", "\n;\n-- MERGE INTO x"]))


def others(form: MergeForm, part: str) -> MergeForm:
    return replace(form, **{part: ""}, target_name="", source_name="")  # type: ignore[arg-type]


@settings(max_examples=20, deadline=None)
@given(texts())
def test_a_part_replaced_with_itself_is_the_same_text(text: str) -> None:
    form = read_form(text)
    assert form is not None
    for part in PARTS:
        assert with_part(text, part, getattr(form, part)) == text
    for at, clause in enumerate(form.clauses):
        assert with_clause(text, at, clause) == text


@settings(max_examples=20, deadline=None)
@given(texts(), st.sampled_from(PARTS), st.data())
def test_a_replaced_part_reads_as_it_was_given_and_all_else_stays_byte_for_byte(
    text: str, part: Part, data: st.DataObject
) -> None:
    form = read_form(text)
    assert form is not None
    of_part = {"target": NAMES, "source": SOURCES, "condition": EXPRESSIONS}
    new = data.draw(of_part.get(part, ALIASES))
    made = with_part(text, part, new)
    # FROM f(1, 2) `x` and the like: only what the parser takes for an alias can be one
    assume(made is not None)
    assert made is not None
    read = read_form(made)
    assert read is not None
    assert getattr(read, part) == new
    assert others(read, part) == others(form, part)
    old = getattr(form, part)
    if old and new:
        # one piece of the text is another now
        assert made in [
            f"{text[:at]}{new}{text[at + len(old) :]}" for at in range(len(text)) if text.startswith(old, at)
        ]
    elif new:
        assert made in [f"{text[:at]} AS {new}{gap}{text[at:]}" for at in range(len(text)) for gap in ("", " ")]
    elif old:
        # an alias goes with its AS, comments beside them stay
        assert [made.count(sign) for sign in ("/*", "--")] == [text.count(sign) for sign in ("/*", "--")]


@settings(max_examples=20, deadline=None)
@given(texts(), clauses(), st.data())
def test_a_clause_is_edited_added_moved_and_removed_and_the_others_stay(
    text: str, other: FormClause, data: st.DataObject
) -> None:
    form = read_form(text)
    assert form is not None
    at = data.draw(st.integers(0, len(form.clauses) - 1))
    old = form.clauses[at]
    if other.kind == old.kind:
        made = with_clause(text, at, other)
        assert made is not None
        read = read_form(made)
        assert read is not None
        assert said(read.clauses[at]) == said(other)
        assert [*map(said, read.clauses[:at]), *map(said, read.clauses[at + 1 :])] == [
            *map(said, form.clauses[:at]),
            *map(said, form.clauses[at + 1 :]),
        ]
    ordered = sorted(one.kind for one in form.clauses) == [one.kind for one in form.clauses]
    if ordered:
        made = with_new_clause(text, other)
        assert made is not None
        read = read_form(made)
        assert read is not None
        place = place_of_new(form, other.kind)
        assert said(read.clauses[place]) == said(other)
        back = without_clause(made, place)
        assert back is not None
        assert "".join(back.split()) == "".join(text.split())
    moved = with_moved_clause(text, at, 1)
    if moved is not None:
        assert with_moved_clause(moved, at + 1, -1) == text
    removed = without_clause(text, at)
    assert (removed is None) == (len(form.clauses) == 1)
    if removed is not None:
        read = read_form(removed)
        assert read is not None
        assert read.clauses == form.clauses[:at] + form.clauses[at + 1 :]


def said(clause: FormClause) -> tuple[object, ...]:
    return clause.kind, clause.action_kind, clause.condition, clause.star, sorted(clause.assignments)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(PARTS), st.text(alphabet="abt.=()`'\"-/*; \nASON,WHE", max_size=12))
def test_whatever_is_typed_into_a_part_either_reads_back_or_is_not_taken(part: Part, typed: str) -> None:
    form, made = read_form(MERGE_SQL), with_part(MERGE_SQL, part, typed)
    assert form is not None
    if made is not None:
        read = read_form(made)
        assert read is not None
        assert getattr(read, part) == typed.strip()
        assert others(read, part) == others(form, part)


NOT_TAKEN = [
    ("target", ""),
    ("source", ""),
    ("condition", ""),
    ("source", "(SELECT 1"),
    ("source", "x -- ON"),
    ("source", "x ON true"),
    ("condition", "a = b WHEN MATCHED THEN DELETE"),
    ("condition", "true; DROP TABLE x"),
    ("condition", "'open"),
    ("target_alias", "a b"),
]


@pytest.mark.parametrize(("part", "typed"), NOT_TAKEN)
def test_what_would_change_another_part_is_not_taken(part: Part, typed: str) -> None:
    assert with_part(MERGE_SQL, part, typed) is None


@pytest.mark.parametrize("text", ["SELECT 1", "MERGE INTO t", "MERGE INTO t USING s ON a = b", "'", "DROP t; MERGE"])
def test_no_form_can_show_what_is_no_merge(text: str) -> None:
    assert read_form(text) is None
    assert with_part(text, "target", "x") is None
    assert with_new_clause(text, FormClause("matched", "delete")) is None


def test_an_empty_text_is_started_with_what_is_typed_first() -> None:
    assert read_form(" \n") == MergeForm()
    made = with_part("", "target", "sales.orders")
    assert made == (
        "MERGE INTO sales.orders AS t\nUSING changes AS s\n  ON t.id = s.id\n"
        "WHEN MATCHED THEN UPDATE SET *\nWHEN NOT MATCHED THEN INSERT *\n"
    )
    made = with_part("", "source", "feed")
    assert made is not None
    assert "USING feed AS s" in made
    assert with_part("", "target", "(") is None


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_can_be_shown(name: str) -> None:
    sql = TEMPLATES[name][2](Sides("db.t", "db.s", key="id", common=("id", "a"), missing=("b",), comparable=("a",)))
    form = read_form(sql)
    assert form is not None
    assert (form.target, form.target_name, form.condition) == ("db.t", "t", "t.id = s.id")
    assert all(one.by_columns for one in form.clauses)


ON = "MERGE INTO t USING s ON a = b "
UPDATE = f"{ON}WHEN MATCHED THEN UPDATE SET\n    a = s.a, -- first\n    b = s.b,\n    c = s.c -- c\n"
INSERT = f"{ON}WHEN NOT MATCHED THEN INSERT (a, /* b */ b) VALUES (s.a,s.b)"
COLUMN_EDITS = [
    (UPDATE, {"a": "s.a", "b": "upper(s.b)", "c": "s.c"}, "b = s.b,", "b = upper(s.b),"),
    (UPDATE, {"a": "s.a", "c": "s.c"}, "    b = s.b,\n", "\n"),
    (UPDATE, {"b": "s.b", "c": "s.c"}, "    a = s.a, -- first", " -- first"),
    (UPDATE, {"a": "s.a", "b": "s.b"}, "b = s.b,\n    c = s.c -- c", "b = s.b\n -- c"),
    (UPDATE, {"a": "s.a", "b": "s.b", "c": "s.c", "d": "1"}, "c = s.c -- c", "c = s.c,\n    d = 1 -- c"),
    (INSERT, {"a": "s.a", "b": "s.b", "c": "0"}, "b) VALUES (s.a,s.b)", "b, c) VALUES (s.a,s.b, 0)"),
    (INSERT, {"b": "s.b"}, "(a, /* b */ b) VALUES (s.a,s.b)", "( /* b */ b) VALUES (s.b)"),
]


@pytest.mark.parametrize(("text", "columns", "old", "new"), COLUMN_EDITS)
def test_of_the_columns_of_an_action_only_those_that_differ_are_touched(
    text: str, columns: dict[str, str], old: str, new: str
) -> None:
    form = read_form(text)
    assert form is not None
    made = with_clause(text, 0, replace(form.clauses[0], assignments=tuple(columns.items())))
    assert made == text.replace(old, new)


def test_an_action_that_columns_cannot_say_is_known_as_such() -> None:
    for action in ("UPDATE SET a", "INSERT (a, b) VALUES (1)", "INSERT VALUES (1)", "UPDATE SET a = 1, a = 2"):
        form = read_form(f"{ON}WHEN MATCHED THEN {action}")
        assert form is not None
        assert not form.clauses[0].by_columns
        assert form.clauses[0].action == action


def test_a_new_clause_comes_behind_the_others_of_its_kind_and_comments_stay_where_they_were() -> None:
    made = with_new_clause(
        MERGE_SQL.replace("UPDATE SET *", "UPDATE SET * -- all"), FormClause("matched", "delete", "s.x")
    )
    assert made is not None
    assert "UPDATE SET * -- all\nWHEN MATCHED AND s.x THEN DELETE\nWHEN NOT MATCHED THEN INSERT *\n" in made
    last = with_new_clause(MERGE_SQL.rstrip() + ";", FormClause("not_matched_by_source", "delete"))
    assert last == MERGE_SQL.rstrip() + "\nWHEN NOT MATCHED BY SOURCE THEN DELETE;"
    first = with_new_clause(f"{ON}WHEN NOT MATCHED THEN INSERT *", FormClause("matched", "delete"))
    assert first == f"{ON}WHEN MATCHED THEN DELETE\nWHEN NOT MATCHED THEN INSERT *"


def test_clauses_of_two_kinds_do_not_change_places() -> None:
    assert with_moved_clause(MERGE_SQL, 1, 1) is None
    assert with_moved_clause(MERGE_SQL, 0, -1) is None
    moved = with_moved_clause(MERGE_SQL, 0, 1)
    assert moved is not None
    assert "WHEN MATCHED THEN UPDATE SET *\nWHEN MATCHED AND s.op = 'D' THEN DELETE\nWHEN NOT" in moved


def test_a_comment_between_two_clauses_is_known_as_it_stays_where_it_is() -> None:
    commented = MERGE_SQL.replace("UPDATE SET *", "UPDATE SET * -- all")
    assert [comments_between(commented, *pair) for pair in ((0, 1), (1, 2), (2, 1))] == [False, True, True]


NO_MERGE = "SELECT 1"


def test_a_text_that_is_no_merge_has_no_form_and_no_edits() -> None:
    clause = FormClause("matched", "delete", action="DELETE")
    assert read_form(NO_MERGE) is None
    assert with_part(NO_MERGE, "source", "x") is None
    assert with_clause(NO_MERGE, 0, clause) is None
    assert with_new_clause(NO_MERGE, clause) is None
    assert without_clause(NO_MERGE, 0) is None
    assert with_moved_clause(NO_MERGE, 0, 1) is None
    assert not comments_between(NO_MERGE, 0, 1)


def test_comments_between_clauses_are_seen() -> None:
    text = "MERGE INTO t USING s ON a WHEN MATCHED AND b THEN DELETE {}WHEN MATCHED THEN DELETE"
    assert comments_between(text.format("-- why\n"), 1, 0)
    assert not comments_between(text.format("\n"), 0, 1)


@pytest.mark.parametrize(
    ("action", "by_columns"),
    [
        ("UPDATE SET a = 1", True),
        ("UPDATE SET a = 1, a = 2", False),
        ("UPDATE SET a = 1 -- b\n, b = 2", True),
        ("UPDATE SET *", True),
        ("INSERT (a) VALUES (1)", True),
        ("DELETE", True),
        ("UPDATE SET a", False),
    ],
)
def test_a_form_says_all_of_an_action_or_does_not(action: str, by_columns: bool) -> None:
    kind = "NOT MATCHED" if action.startswith("INSERT") else "MATCHED"
    form = read_form(f"MERGE INTO t USING s ON a WHEN {kind} THEN {action}")
    assert form is not None
    assert form.clauses[0].by_columns is by_columns
