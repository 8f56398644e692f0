"""Tables and merges of every shape, drawn by hypothesis. All of it is SQL text, so a failure can be pasted and run."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from engine.names import quote

PLAIN_NAMES = ("id", "k", "v", "d", "n")
ODD_NAMES = ("id", "key no", "v,al", "d ay", "n.s")  # these need column mapping


@dataclass(frozen=True)
class Table:
    """A target. ``layout``: "", "by_d", "by_k", "by_v" or "clustered"; ``then`` runs when it is filled."""

    names: tuple[str, ...]
    layout: str
    vectors: bool
    feed: bool
    check: bool
    generated: bool
    files: int
    then: tuple[str, ...]

    def statements(self, table: str) -> list[str]:
        """What makes it: 48 rows with ids from 0, many NULLs, in ``files`` files or more."""
        i, k, v, d, n = (quote(name) for name in self.names)
        properties = {
            "delta.enableDeletionVectors": str(self.vectors).lower(),
            "delta.enableChangeDataFeed": str(self.feed).lower(),
        }
        if self.names != PLAIN_NAMES:
            properties["delta.columnMapping.mode"] = "name"
        shown = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        columns = f"{i} BIGINT, {k} INT, {v} STRING, {d} DATE, {n} STRUCT<a: INT, b: STRING>"
        if self.generated:
            columns += f", g INT GENERATED ALWAYS AS ({k} * 2)"
        layout = {
            "by_d": f"PARTITIONED BY ({d})",
            "by_k": f"PARTITIONED BY ({k})",
            "by_v": f"PARTITIONED BY ({v})",
            "clustered": f"CLUSTER BY ({i}, {d})",
        }.get(self.layout, "")
        made = [
            f"CREATE TABLE {table} ({columns}) USING delta {layout} TBLPROPERTIES ({shown})",
            f"INSERT INTO {table} ({', '.join((i, k, v, d, n))}) {rows(0, 48, self.files)}",
        ]
        if self.check:
            made.append(f"ALTER TABLE {table} ADD CONSTRAINT small CHECK ({k} IS NULL OR {k} < 1000)")
        return [*made, *(text.format(table=table, id=i, k=k, v=v, d=d) for text in self.then)]


def rows(first: int, end: int, parts: int, *, odd: int = 7) -> str:
    """A SELECT of rows with ids from ``first``; every ``odd``-th has NULLs."""
    return (
        f"SELECT id, CASE WHEN id % {odd} = 0 THEN NULL ELSE CAST(id % 5 AS INT) END, "
        f"CASE WHEN id % {odd} = 1 THEN NULL ELSE concat('v', id % 4) END, "
        f"CASE WHEN id % {odd} = 2 THEN NULL ELSE DATE'2024-01-01' + CAST(id % 3 AS INT) END, "
        f"CASE WHEN id % {odd} = 3 THEN NULL ELSE named_struct('a', CAST(id % 4 AS INT), 'b', 'x') END "
        f"FROM range({first}, {end}, 1, {parts})"
    )


@dataclass(frozen=True)
class Merge:
    """One statement; ``setup`` stands before it. ``{table}`` and ``{source}`` are filled in."""

    text: str
    setup: str = ""

    def script(self, table: str) -> str:
        return (self.setup + self.text).replace("{table}", table)


@dataclass(frozen=True)
class Story:
    """A table and the merges that run into it one after the other."""

    table: Table
    merges: tuple[Merge, ...] = field(default=())


THEN = (
    "DELETE FROM {table} WHERE {id} % 10 = 3",
    "DELETE FROM {table} WHERE {id} < 20",
    "UPDATE {table} SET {v} = 'upd' WHERE {id} % 8 = 1",
    "INSERT INTO {table} ({id}, {k}) VALUES (200, 1), (NULL, 2), (201, NULL)",
    "INSERT INTO {table} ({id}, {k}, {d}) VALUES (5, 1, DATE'2024-01-02')",
    "OPTIMIZE {table}",
)
tables = st.builds(
    Table,
    names=st.sampled_from((PLAIN_NAMES, PLAIN_NAMES, PLAIN_NAMES, ODD_NAMES)),
    layout=st.sampled_from(("", "", "", "by_d", "by_k", "by_v", "clustered")),
    vectors=st.booleans(),
    feed=st.sampled_from((False, False, True)),
    check=st.sampled_from((False, False, False, True)),
    generated=st.sampled_from((False, False, False, True)),
    files=st.integers(1, 4),
    then=st.lists(st.sampled_from(THEN), max_size=2).map(tuple),
)


def source_table(names: tuple[str, ...]) -> str:
    return "src_odd" if names == ODD_NAMES else "src"


def source_statements(names: tuple[str, ...]) -> list[str]:
    """The tables that sources are made of: ``…`` (Delta), ``…_pq`` (Parquet), both with ids 30 to 65."""
    name = source_table(names)
    columns = ", ".join(quote(one) for one in names)
    types = ("BIGINT", "INT", "STRING", "DATE", "STRUCT<a: INT, b: STRING>")
    typed = ", ".join(f"{quote(one)} {kind}" for one, kind in zip(names, types, strict=True))
    mapping = "" if names == PLAIN_NAMES else "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    return [
        f"CREATE TABLE {name} ({typed}) USING delta {mapping}",
        f"INSERT INTO {name} ({columns}) {rows(30, 65, 2, odd=6)}",
        f"CREATE TABLE {name}_pq ({typed}) USING parquet",
        f"INSERT INTO {name}_pq {rows(30, 65, 1, odd=6)}",
    ]


@st.composite
def merges(draw: st.DrawFn, table: Table) -> Merge:
    i, k, v, d, n = (quote(name) for name in table.names)
    base = source_table(table.names)
    setup = ""
    source = draw(
        st.sampled_from(
            (
                base,
                base,
                f"{base}_pq",
                f"(SELECT * FROM {base} WHERE {k} > 1)",
                f"(SELECT DISTINCT * FROM {base})",
                f"(SELECT * FROM {base} WHERE {i} < 40)",
                f"(SELECT * FROM {base} UNION ALL SELECT * FROM {base} WHERE {i} % 9 = 0)",
                f"(SELECT * FROM {base} WHERE false)",
                f"(SELECT * FROM {base} ORDER BY {i} LIMIT 9)",
                f"(SELECT max({i}) {i}, {k}, max({v}) {v}, max({d}) {d}, max({n}) {n} FROM {base} GROUP BY 2)",
                f"(SELECT {i} - 30 AS {i}, {k}, {v}, {d}, {n} FROM {base})",
                "view",
                "with",
                f"(SELECT a.* FROM {base} a JOIN {base}_pq b ON a.{i} = b.{i} + 3)",
            )
        )
    )
    prefix = ""
    if source == "view":
        setup = f"CREATE OR REPLACE TEMPORARY VIEW fresh AS SELECT * FROM {base} WHERE {i} % 2 = 0;\n"
        source = "fresh"
    elif source == "with":
        prefix = f"WITH w AS (SELECT * FROM {base} WHERE {i} > 45) "
        source = "w"
    target_only = st.sampled_from(
        (
            f"t.{k} > 2",
            f"t.{d} >= DATE'2024-01-02'",
            f"t.{d} = '2024-01-02'",
            f"t.{v} LIKE 'v1%'",
            f"t.{k} IN (1, 3)",
            f"t.{v} IS NOT NULL",
            f"NOT (t.{i} < 40)",
            f"t.{i} % 2 = 0",
            f"t.{k} IS NULL",
            "false",
        )
    )
    tie = st.sampled_from(
        (
            *(f"t.{i} = s.{i}",) * 8,
            f"s.{i} = t.{i} + 1",
            f"t.{i} <=> s.{i}",
            f"t.{i} = s.{i} AND t.{k} = s.{k}",
            f"t.{i} = s.{i} AND t.{k} <=> s.{k}",
            f"t.{i} = s.{i} AND s.{k} > 1",
            f"(t.{i} = s.{i} OR t.{i} = s.{i} - 30)",
            f"t.{v} = s.{v} AND t.{k} = s.{k} AND t.{i} % 9 = s.{i} % 9",
            f"t.{i} = s.{i} AND t.{n}.a = s.{n}.a",
        )
    )
    on = [draw(tie), *draw(st.lists(target_only, max_size=1) if draw(st.booleans()) else st.just([]))]
    on = draw(st.permutations(on))
    both = st.sampled_from(
        (f"s.{k} > 1", f"t.{k} < s.{k}", f"t.{v} <> s.{v}", f"s.{v} IS NULL", f"t.{k} = 2", f"t.{d} > s.{d}",
         f"t.{i} >= 40 AND s.{k} > 0", f"coalesce(s.{k}, 0) >= 2")
    )  # fmt: skip
    of_source = st.sampled_from((f"s.{k} > 1", f"s.{i} > 55", f"s.{v} IS NOT NULL", f"s.{d} = DATE'2024-01-01'"))
    of_target = st.sampled_from((f"t.{k} = 1", f"t.{i} < 15", f"t.{v} IS NULL", f"t.{d} = DATE'2024-01-03'"))
    updates = (
        "UPDATE SET *",
        f"UPDATE SET t.{v} = s.{v}",
        f"UPDATE SET {k} = s.{k} + 1, {v} = concat(coalesce(t.{v}, ''), '!')",
        f"UPDATE SET {d} = s.{d}, {n} = s.{n}",
        f"UPDATE SET t.{n}.b = s.{v}",
        f"UPDATE SET {k} = NULL",
    )
    inserts = (
        "INSERT *",
        "INSERT *",
        f"INSERT ({i}) VALUES (s.{i})",
        f"INSERT ({i}, {k}, {v}) VALUES (s.{i} + 100, s.{k} * 2, upper(s.{v}))",
        f"INSERT ({i}, {d}) VALUES (s.{i}, DATE'2024-02-01')",
    )
    if table.generated:  # Delta wants the generated column in the source for *
        updates, inserts = updates[1:], inserts[2:]
    by_source = (f"UPDATE SET {v} = 'gone'", "DELETE", f"UPDATE SET {k} = t.{k} + 1, {d} = NULL")
    clauses = [
        *_clauses(draw, "WHEN MATCHED", both, (*updates, "DELETE"), draw(st.sampled_from((0, 1, 1, 1, 2, 3)))),
        *_clauses(draw, "WHEN NOT MATCHED", of_source, inserts, draw(st.sampled_from((0, 1, 1, 2)))),
        *_clauses(draw, "WHEN NOT MATCHED BY SOURCE", of_target, by_source, draw(st.sampled_from((0, 0, 0, 1, 2)))),
    ]
    clauses = clauses or ["WHEN MATCHED THEN DELETE"]
    text = f"{prefix}MERGE INTO {{table}} AS t USING {source} AS s ON {' AND '.join(on)}\n" + "\n".join(clauses)
    return Merge(text, setup)


def _clauses(
    draw: st.DrawFn, head: str, conditions: st.SearchStrategy[str], actions: tuple[str, ...], count: int
) -> list[str]:
    """``count`` clauses; only the last may be without a condition."""
    found = []
    for number in range(count):
        last = number == count - 1
        condition = None if last and draw(st.booleans()) else draw(conditions)
        action = draw(st.sampled_from(actions))
        found.append(f"{head}{f' AND {condition}' if condition else ''} THEN {action}")
    return found


@st.composite
def stories(draw: st.DrawFn, length: int = 4) -> Story:
    table = draw(tables)
    return Story(table, tuple(draw(merges(table)) for _ in range(length)))
