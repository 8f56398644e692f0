"""Merges of every shape into random tables, drawn by hypothesis. Each is SQL text: a failure can be pasted and run."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from engine.sql.names import quote
from tests.engine.random_tables import MORE, Table, source_columns, source_table, tables

MERGE = "spark.databricks.delta.merge"
CONFS = (
    (f"{MERGE}.optimizeInsertOnlyMerge.enabled", "false"),
    (f"{MERGE}.optimizeMatchedOnlyMerge.enabled", "false"),
    (f"{MERGE}.deletionVectors.persistent", "false"),
    (f"{MERGE}.materializeSource", "all"),
    (f"{MERGE}.materializeSource", "none"),
    (f"{MERGE}.repartitionBeforeWrite.enabled", "false"),
    ("spark.databricks.delta.stats.skipping", "false"),
    ("spark.databricks.delta.schema.autoMerge.enabled", "true"),
    ("spark.sql.ansi.enabled", "false"),
    ("spark.sql.storeAssignmentPolicy", "LEGACY"),
    ("spark.sql.readSideCharPadding", "false"),
    ("spark.sql.session.timeZone", "Asia/Kathmandu"),
)


@dataclass(frozen=True)
class WhenClause:
    """``kind``: what stands before the condition, as in "WHEN NOT MATCHED BY SOURCE"."""

    kind: str
    condition: str | None
    action: str

    @property
    def text(self) -> str:
        return f"{self.kind}{f' AND {self.condition}' if self.condition else ''} THEN {self.action}"


@dataclass(frozen=True)
class Source:
    """What stands after USING. ``columns`` are those it has; ``before`` a WITH, ``setup`` statements before that."""

    text: str
    columns: tuple[str, ...]
    before: str = ""
    setup: str = ""


@dataclass(frozen=True)
class Merge:
    """One statement under ``confs``. ``{table}`` and ``{directory}`` are filled in."""

    into: str
    source: Source
    on: str
    clauses: tuple[WhenClause, ...]
    evolves: bool = False
    confs: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        head = f"{self.source.before}MERGE {'WITH SCHEMA EVOLUTION ' if self.evolves else ''}INTO {self.into} AS t"
        clauses = "\n".join(clause.text for clause in self.clauses)
        return f"{head} USING {self.source.text} AS s ON {self.on}\n{clauses}"

    def script(self, table: str, directory: str) -> str:
        confs = "".join(f"SET {key}={value};\n" for key, value in self.confs)
        return filled(confs + self.source.setup + self.text, table, directory)


def filled(text: str, table: str, directory: str) -> str:
    return text.replace("{table}", table).replace("{directory}", directory)


@dataclass(frozen=True)
class Story:
    """A table and the merges that run into it one after the other."""

    table: Table
    merges: tuple[Merge, ...] = field(default=())


@st.composite
def sources(draw: st.DrawFn, table: Table, evolves: bool) -> Source:
    i, k, v, d, n = (quote(name) for name in table.names)
    base = source_table(table.names)
    every = tuple(one.name for one in source_columns(table.names))
    own = tuple(one.name for one in table.columns)
    star = draw(st.sampled_from(("*", "*", "*", "turned", "wider", "fewer")))
    columns = every
    if star == "turned":
        columns = (*reversed(own), MORE.name)
    elif star == "fewer":
        columns = table.names
    columns = tuple(name for name in columns if name in every)
    named = {name: quote(name) for name in columns}
    if star == "wider":
        named |= {table.names[1]: f"CAST({k} AS BIGINT) AS {k}", "dc": "CAST(dc AS DECIMAL(12, 4)) AS dc"}
        named |= {"arr": "CAST(arr AS ARRAY<BIGINT>) AS arr", "vc": "CAST(vc AS VARCHAR(9)) AS vc"}
        more = "'z', 1, " if evolves else ""
        named[table.names[4]] = f"IF({n} IS NULL, NULL, named_struct('b', {n}.b, {more}'a', {n}.a)) AS {n}"
    some = "*" if star == "*" else ", ".join(named.values())
    plain = draw(
        st.sampled_from(
            (
                base,
                f"{base}_pq",
                f"(SELECT {some} FROM {base})",
                f"(SELECT {some} FROM {base})",
                f"(SELECT {some} FROM {base} WHERE {k} > 1)",
                f"(SELECT {'' if 'mp' in columns else 'DISTINCT '}{some} FROM {base} WHERE {i} < 60)",  # no set of maps
                f"(SELECT {some} FROM {base} WHERE {i} < 40)",
                f"(SELECT {some} FROM {base} UNION ALL SELECT {some} FROM {base} WHERE {i} % 9 = 0)",
                f"(SELECT {some} FROM {base} WHERE false)",
                f"(SELECT {some} FROM {base} ORDER BY {i} LIMIT 9)",
                f"(SELECT max({i}) {i}, {k}, max({v}) {v}, max({d}) {d}, max({n}) {n} FROM {base} GROUP BY 2)",
                f"(SELECT {i} - 30 AS {i}, {k}, {v}, {d}, {n} FROM {base})",
                f"(SELECT {some} FROM {base} VERSION AS OF 1 WHERE {i} > 40)",
                f"(SELECT a.* FROM {base} a JOIN {base}_pq b ON a.{i} = b.{i} + 3)",
                "view",
                "with",
                "{table}",
                "(SELECT * FROM {table} VERSION AS OF 1)",
                f"(SELECT * FROM {{table}} WHERE {k} > 1)",
                f"(SELECT {i} + 20 AS {i}, {', '.join(quote(name) for name in own if name != 'id')} FROM {{table}})",
            )
        )
    )
    if plain == "view":
        setup = f"CREATE OR REPLACE TEMPORARY VIEW fresh AS SELECT {some} FROM {base} WHERE {i} % 2 = 0;\n"
        return Source("fresh", columns, setup=setup)
    if plain == "with":
        return Source("w", columns, before=f"WITH w AS (SELECT {some} FROM {base} WHERE {i} > 45) ")
    if "{table}" in plain:
        return Source(plain, own)
    if some not in plain:
        columns = table.names if f"{k}, " in plain else every
    return Source(plain, columns)


@st.composite
def merges(draw: st.DrawFn, table: Table) -> Merge:
    evolves = draw(st.sampled_from((False, False, True)))
    source = draw(sources(table, evolves))
    confs = draw(st.one_of(st.just([]), st.lists(st.sampled_from(CONFS), max_size=2, unique_by=lambda one: one[0])))
    into = "{table}"
    if table.place and draw(st.booleans()):
        into = f"delta.`{{directory}}/{table.place}/{{table}}`"
    ties = draw(st.permutations([draw(st.sampled_from(_ties(table, source))), *_few(draw, of_target(table))]))
    clauses = [
        *_clauses(draw, "WHEN MATCHED", of_both(table, source), _updates(table, source, evolves), (1, 0, 1, 1, 2, 3)),
        *_clauses(draw, "WHEN NOT MATCHED", of_source(table), _inserts(table, source, evolves), (1, 0, 1, 2)),
        *_clauses(draw, "WHEN NOT MATCHED BY SOURCE", of_target(table), _by_source(table), (0, 0, 0, 1, 2, 3)),
    ] or [WhenClause("WHEN MATCHED", None, "DELETE")]
    return Merge(into, source, " AND ".join(ties), tuple(clauses), evolves, tuple(confs))


def _few(draw: st.DrawFn, conditions: tuple[str, ...]) -> list[str]:
    return draw(st.one_of(st.just([]), st.lists(st.sampled_from(conditions), max_size=1)))


def _shared(table: Table, source: Source) -> set[str]:
    """The extra columns that both sides have."""
    return {one.name for one in table.extras} & set(source.columns)


def _ties(table: Table, source: Source) -> tuple[str, ...]:
    i, k, v, _, n = (quote(name) for name in table.names)
    of_extras = {
        "ts": (f"t.{i} = s.{i} AND t.ts = s.ts", f"t.{i} = s.{i} AND t.ts <=> s.ts"),
        "dc": ("t.dc = s.dc", "t.dc <=> s.dc", f"t.{i} = s.{i} AND t.dc > s.{k}"),
        "x": ("t.x = s.x", f"t.{i} = s.{i} AND t.x <=> s.x", f"t.{i} = s.{i} AND s.x <= t.x"),
        "arr": (f"t.{i} = s.{i} AND t.arr = s.arr", f"t.{i} = s.{i} AND t.arr[0] <=> s.arr[0]"),
        "c": (f"t.{i} = s.{i} AND t.c = s.c",),
        "vc": (f"t.{i} = s.{i} AND t.vc = s.vc",),
        "mp": (f"t.{i} = s.{i} AND t.mp['a'] = s.mp['a']",),
        "numbered": (f"t.{i} = s.{i} AND t.numbered = s.numbered",),
    }
    return (
        *(f"t.{i} = s.{i}",) * 8,
        f"s.{i} = t.{i} + 1",
        f"t.{i} <=> s.{i}",
        f"t.{i} = s.{i} AND t.{k} = s.{k}",
        f"t.{i} = s.{i} AND t.{k} <=> s.{k}",
        f"t.{i} = s.{i} AND s.{k} > 1",
        f"(t.{i} = s.{i} OR t.{i} = s.{i} - 30)",
        f"t.{v} = s.{v} AND t.{k} = s.{k} AND t.{i} % 9 = s.{i} % 9",
        f"t.{i} = s.{i} AND t.{n}.a = s.{n}.a",
        *(tie for name in sorted(_shared(table, source)) for tie in of_extras.get(name, ())),
    )


def of_target(table: Table) -> tuple[str, ...]:
    """Conditions that name the target alone."""
    i, k, v, d, n = (quote(name) for name in table.names)
    of_extras = {
        "ts": ("t.ts >= TIMESTAMP'2024-01-02 10:00:00.123456'", "date(t.ts) = '2024-01-02'"),
        "dc": ("t.dc > 20.5", "t.dc = 12.50"),
        "x": ("t.x > 3", "isnan(t.x)", "t.x = double('NaN')"),
        "c": ("t.c = 'c1'",),
        "vc": ("t.vc = 'w1'", "t.vc LIKE 'w%'"),
        "arr": ("t.arr[0] = 1", "size(t.arr) > 5"),
        "mp": ("t.mp['a'] = 1",),
        "g": ("t.g = 4",),
        "auto": ("t.auto > 20",),
    }
    return (
        f"t.{k} > 2",
        f"t.{d} >= DATE'2024-01-02'",
        f"t.{d} = '2024-01-02'",
        f"t.{v} LIKE 'v1%'",
        f"t.{k} IN (1, 3)",
        f"t.{v} IS NOT NULL",
        f"NOT (t.{i} < 40)",
        f"t.{i} % 2 = 0",
        f"t.{k} IS NULL",
        f"t.{k} <=> NULL",
        f"t.{n}.a = 1",
        "false",
        *(text for one in table.extras for text in of_extras.get(one.name, ())),
    )


def of_source(table: Table) -> tuple[str, ...]:
    i, k, v, d, _ = (quote(name) for name in table.names)
    return (f"s.{k} > 1", f"s.{i} > 55", f"s.{v} IS NOT NULL", f"s.{d} = DATE'2024-01-01'", f"s.{i} < 62")


def of_both(table: Table, source: Source) -> tuple[str, ...]:
    i, k, v, d, _ = (quote(name) for name in table.names)
    of_extras = {"x": "t.x > s.x", "dc": "t.dc <=> s.dc", "ts": "s.ts >= t.ts", "arr": "t.arr[0] = s.arr[0]",
                 "vc": "t.vc < s.vc", "must": "t.must <> s.must"}  # fmt: skip
    return (
        *(f"s.{k} > 1", f"t.{k} < s.{k}", f"t.{v} <> s.{v}", f"s.{v} IS NULL", f"t.{k} = 2", f"t.{d} > s.{d}"),
        *(f"t.{i} >= 40 AND s.{k} > 0", f"coalesce(s.{k}, 0) >= 2"),
        *(of_extras[name] for name in sorted(_shared(table, source)) if name in of_extras),
    )


def _updates(table: Table, source: Source, evolves: bool) -> tuple[str, ...]:
    i, k, v, d, n = (quote(name) for name in table.names)
    found = ["UPDATE SET *"] * 2 if takes_stars(table, source, evolves) else []
    found += [
        f"UPDATE SET t.{v} = s.{v}",
        f"UPDATE SET {k} = s.{k} + 1, {v} = concat(coalesce(t.{v}, ''), '!')",
        f"UPDATE SET {d} = s.{d}, {n} = s.{n}",
        f"UPDATE SET t.{n}.b = s.{v}",
        f"UPDATE SET {k} = NULL",
        f"UPDATE SET {i} = s.{i}, {n} = named_struct('b', 'z', 'a', s.{k})",
        "DELETE",
        "DELETE",
    ]
    if evolves and MORE.name in source.columns:
        found.append("UPDATE SET more = s.more")
    of_extras = {"mp": "mp = map('b', s.{k}, 'c', 1)", "arr": "arr = array(s.{k}, s.{i})", "x": "x = s.x / s.{k}",
                 "vc": "vc = concat(t.vc, '!')", "dc": "dc = t.dc * 2", "ts": "ts = s.{d}", "must": "must = s.{k}",
                 "recs": "recs = array(named_struct('b', s.{v}, 'a', '1'))"}  # fmt: skip
    for one in table.extras:
        found += [f"UPDATE SET {of_extras[one.name].format(i=i, k=k, v=v, d=d)}"] if one.name in of_extras else []
        found += [f"UPDATE SET {one.name} = s.{one.name}"] if one.name in source.columns else []
    return tuple(found)


def _inserts(table: Table, source: Source, evolves: bool) -> tuple[str, ...]:
    i, k, v, d, _ = (quote(name) for name in table.names)
    must = ", must" if any(one.name == "must" for one in table.extras) else ""
    value = ", s.must" if must and "must" in source.columns else ", 1" if must else ""
    found = ["INSERT *"] * 3 if takes_stars(table, source, evolves) else []
    found += [
        f"INSERT ({i}{must}) VALUES (s.{i}{value})",
        f"INSERT ({i}, {k}, {v}{must}) VALUES (s.{i} + 100, s.{k} * 2, upper(s.{v}){value})",
        f"INSERT ({d}, {i}{must}) VALUES (DATE'2024-02-01', s.{i}{value})",
    ]
    for one in table.extras:
        if one.name in source.columns and one.name != "must":
            found.append(f"INSERT ({one.name}, {i}{must}) VALUES (s.{one.name}, s.{i}{value})")
    if evolves and MORE.name in source.columns:
        found.append(f"INSERT ({i}, more{must}) VALUES (s.{i}, s.more{value})")
    return tuple(found)


def takes_stars(table: Table, source: Source, evolves: bool) -> bool:
    """Unless the schema evolves, * wants every column in the source; it never gives a value to an identity."""
    every = evolves or {one.name for one in table.columns} <= set(source.columns)
    return every and "auto" not in source.columns


def _by_source(table: Table) -> tuple[str, ...]:
    k, v, d = (quote(name) for name in table.names[1:4])
    of_extras = {"arr": "arr = array_append(t.arr, 5)", "vc": "vc = 'gone'", "must": "must = t.{k}", "x": "x = NULL"}
    found = (of_extras[one.name].format(k=k) for one in table.extras if one.name in of_extras)
    return (
        *(f"UPDATE SET {v} = 'gone'", "DELETE", f"UPDATE SET {k} = t.{k} + 1, {d} = NULL"),
        *(f"UPDATE SET {text}" for text in found),
    )


def _clauses(
    draw: st.DrawFn, head: str, conditions: tuple[str, ...], actions: tuple[str, ...], counts: tuple[int, ...]
) -> list[WhenClause]:
    """So many clauses; only the last may be without a condition."""
    found = []
    count = draw(st.sampled_from(counts))
    for number in range(count):
        last = number == count - 1
        condition = None if last and draw(st.booleans()) else draw(st.sampled_from(conditions))
        found.append(WhenClause(head, condition, draw(st.sampled_from(actions))))
    return found


@st.composite
def stories(draw: st.DrawFn, length: int = 4) -> Story:
    table = draw(tables)
    # four different ones: hypothesis likes to begin with four times the simplest
    drawn = draw(st.lists(merges(table), min_size=length, max_size=length, unique_by=lambda merge: merge.text))
    return Story(table, tuple(drawn))
