"""The form and its SQL are one statement: what the form writes reads back as the same form."""

from __future__ import annotations

import pytest

from console.statements.table_form import FormColumn, TableForm, clone, like, proposed_name, read_form, to_sql
from tests.console import samples

COLUMNS = (
    FormColumn("id", "bigint", nullable=False, comment="it's \\ the key"),
    FormColumn("order date", "decimal(12, 2)", value="default", expression="1.5"),
    FormColumn("s", "struct<a: int, b: map<string, int>>"),
    FormColumn("year", "int", value="generated", expression="year(concat(a, ')'))"),
    FormColumn("n", "bigint", value="identity"),
)
FORMS = [
    TableForm(name="t", columns=COLUMNS),
    TableForm(mode="if_not_exists", name="a.`b c`", columns=COLUMNS[:1], location="/a'b", comment="[/x]"),
    TableForm(mode="or_replace", name="t", columns=COLUMNS[:1], layout="partitioned", layout_by="a, `b c`"),
    TableForm(name="t", columns=COLUMNS[:1], layout="clustered", layout_by="s.a", properties="delta.appendOnly = true"),
    TableForm(name="delta.`/a/b`", query="SELECT 1 AS a, '-- no' AS b\nFROM x PARTITIONED", comment="c"),
    TableForm(name="", comment="only begun"),
    TableForm(name="t", properties="'a"),
]


@pytest.mark.parametrize("form", FORMS[:5])
def test_what_the_form_writes_reads_back_as_the_form(form: TableForm) -> None:
    assert read_form(to_sql(form)) == form


@pytest.mark.parametrize("form", FORMS[5:])
def test_what_is_half_typed_is_written_as_it_is_and_raises_nothing(form: TableForm) -> None:
    read_form(to_sql(form))
    assert to_sql(form).startswith("CREATE TABLE")


@pytest.mark.parametrize(
    "more",
    ["-- a comment\n", "OPTIONS (a = 1)\n", "PARTITIONED BY (bucket(4, id)) CLUSTER BY (id)\n"],
)
def test_a_text_that_says_more_than_the_form_does_not_come_back_from_it(more: str) -> None:
    sql = to_sql(FORMS[0]) + more
    form = read_form(sql)
    assert form is not None
    assert to_sql(form) != sql


@pytest.mark.parametrize(
    "sql", [samples.MERGE_SQL, "CREATE TABLE a SHALLOW CLONE b", "CREATE TABLE a LIKE b", "CREATE"]
)
def test_no_form_can_say_another_statement(sql: str) -> None:
    assert read_form(sql) is None


@pytest.mark.parametrize("name", ["partitioned", "cluster", "tblproperties", "location"])
def test_a_word_of_a_clause_may_name_the_table_and_a_column(name: str) -> None:
    form = TableForm(name=name, columns=(FormColumn(name, "INT"), FormColumn("end", "STRING")), comment="c")
    assert read_form(to_sql(form).replace("`", "")) == form


def test_a_table_like_another_has_its_columns_layout_and_properties_but_not_what_delta_keeps_of_that_one() -> None:
    form = like("x", samples.a_state())
    assert [column.name for column in form.columns][-1] == "year"
    assert (form.columns[-1].value, form.columns[-1].expression) == ("generated", "year(order_date)")
    assert (form.columns[2].value, form.columns[2].expression) == ("default", "'new'")
    assert (form.layout, form.layout_by, form.location) == ("partitioned", "order_date", "")
    assert "maxColumnId" not in form.properties
    # without this feature a default is refused
    assert "'delta.feature.allowColumnDefaults' = 'supported'" in form.properties


def test_names_are_proposed_beside_the_table() -> None:
    assert proposed_name("sales.orders", "like") == "sales.orders_like"
    assert proposed_name("sales.`order lines`", "like") == "sales.`order lines_like`"
    assert proposed_name("delta.`/lake/order lines/`", "rehearsal") == "order_lines_rehearsal"
    assert clone("sales.orders", 41) == (
        "CREATE TABLE sales.orders_rehearsal\nSHALLOW CLONE sales.orders VERSION AS OF 41\n"
    )


def test_an_empty_form_is_an_empty_text() -> None:
    assert to_sql(TableForm()) == ""
    assert read_form(" \n") == TableForm()


def test_a_table_like_another_is_clustered_or_partitioned_as_that_is() -> None:
    state = samples.a_state()
    plain = state.model_copy(update={"partition_columns": (), "clustering_columns": ()})
    assert like("x", plain).layout == ""
    clustered = like("x", plain.model_copy(update={"clustering_columns": ("a b",)}))
    assert (clustered.layout, clustered.layout_by) == ("clustered", "`a b`")
    with_default = plain.columns[0].model_copy(update={"default": "1"})
    assert "allowColumnDefaults" in like("x", plain.model_copy(update={"columns": (with_default,)})).properties
