"""Which files a read leaves, and why: PrepareDeltaScan asked about a predicate on a table, or about a whole query.

Every verdict is Delta's own: ``inputFiles()`` of the read as it is, of the read without what generated columns add, and
of each conjunct by itself. What stands beside a verdict is what the log holds (``engine.explore.skipping.facts``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.explore.skipping import FileEvidence, file_evidence
from engine.merge.analyze import Expression
from engine.merge.prepare_delta_scan import files_among, input_files, input_names
from engine.merge.session_definitions import view_text
from engine.model.browse import Column
from engine.model.errors import EngineError
from engine.model.value import Accuracy
from engine.preflight.target_reads import beside
from engine.spark.confs import GENERATED_FILTERS, STATS_SKIPPING, confs_set, is_on, read_confs
from engine.spark.explain import COLUMN_ID, Explained, explain
from engine.spark.schema import columns_of, schema_of
from engine.spark.spark_errors import raise_if_all_ends, translate
from engine.sql.as_typed import in_whole
from engine.sql.names import quote, string
from engine.sql.resolve import SOURCE, Side, resolve
from engine.sql.sql_text import conjuncts, tokenize
from engine.table.commits import current_version
from engine.table.delta_log import list_files, partitions_of
from engine.table.log_file import LogFile
from engine.table.logged_schema import logged_schema
from engine.table.tables import name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCAN = re.compile(
    r"FileScan parquet (?P<name>[^\[]*)\[[^\n]*?DataFilters: \[(?P<data>[^\n]*?)\], Format: [^\n]*?"
    r"Location: (?P<index>\w+)\(\d+ paths\)\[(?P<path>[^\]]*)\], "
    r"PartitionFilters: \[(?P<partition>[^\n]*?)\], PushedFilters: "
)
VIEW = re.compile(r"^[ :+-]*View \(((?:`(?:[^`]|``)+`\.?)+)", re.MULTILINE)
TRAVEL = re.compile(r"\bAS\s+OF\b|AsOf\b|@v\d|@\d{17}", re.IGNORECASE)
# Spark cuts what it prints of a scan at 100 characters
WHOLE = {"spark.sql.maxMetadataStringLength": "1000000"}
AT_ONCE = 2
ID = re.compile(COLUMN_ID)
ATOM = re.compile(r"\((?P<column>\w+) (?P<sign>=|<|>|<=|>=) (?P<value>[^()]+)\)|isnull\((?P<null>\w+)\)")
AROUND_ATOMS = re.compile(r"(?:[()]| OR | AND |isnull)*")
TWICE = re.compile(r"^\((?P<filter>.+) OR isnull\((?P=filter)\)\)$")
NO_SKIPPING = (
    f"{STATS_SKIPPING} is false: the rule PrepareDeltaScan does not run. Every file is in the plan; only partitions "
    "are pruned, when the read is executed."
)


@dataclass(frozen=True)
class Size:
    """How much is left of a table. ``partitions`` are distinct tuples of partition values."""

    files: int
    bytes: int
    partitions: int


@dataclass(frozen=True)
class ScanExplained:
    """One predicate on one version of a table.

    ``after_partitions`` is what the conjuncts on partition columns leave, with those that generated columns add
    (``generated``, as Spark prints them: a MERGE has none of these); ``after_statistics`` what the read is left with.
    Delta cannot be asked for what those of ``unasked`` leave by themselves: ``after_partitions`` is at most that then.
    ``paths`` are of all files, in the order of ``files``; ``kept`` those of ``after_statistics``, ``pruned`` those that
    are not in ``after_partitions``, and ``derived`` those of the pruned that ``generated`` alone prunes.
    """

    table: str
    version: int
    predicate: str
    before: Size
    after_partitions: Size
    after_statistics: Size
    generated: tuple[str, ...]
    files: Sequence[FileEvidence]
    paths: tuple[str, ...]
    kept: frozenset[str]
    pruned: frozenset[str] = frozenset()
    derived: frozenset[str] = frozenset()
    unasked: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class QueryScan:
    """A Delta scan of a query. ``filters`` as Spark prints them, those on partition columns first.

    ``times`` the plan has it, duplicates sharing one file listing. ``version`` is the one pinned for the query, None
    where the text travels in time. ``accuracy`` is estimated where scans of the table differ: the files are of all. It
    is unknown, and ``after`` None, for what a subquery alone reads: Spark tells no files of it.
    """

    table: str
    path: str
    version: int | None
    filters: tuple[str, ...]
    times: int
    before: Size | None
    after: Size | None
    accuracy: Accuracy


def explore(spark: SparkSession, table: str, predicate: str, version: int | None = None) -> ScanExplained:
    """Why each file of ``table`` (SQL text) is kept or skipped under ``predicate``. Reads no data.

    What Spark refuses (an unknown column, no predicate) raises an EngineError.
    """
    detail = _delta_detail(spark, table)
    features = detail["tableFeatures"] or ()
    texts = conjuncts(predicate)
    path, at = str(detail["location"]), current_version(spark, table) if version is None else version
    source = f"{table} VERSION AS OF {at}"
    with beside() as submit:
        # the log is read while Delta is asked
        listing = submit(lambda: list_files(spark, path, at, with_stats=True))
        logged = submit(lambda: logged_schema(spark, path, at)) if "columnMapping" in features else None
        schema = _schema_of_read(spark, source, predicate)
        side = Side(SOURCE, tuple(name_parts(table)), False, tuple(column.name for column in schema))
        parts = [Expression(text, resolve(text, [side]).source_columns, (), text) for text in texts]
        by_partition = {name.lower() for name in detail["partitionColumns"] or ()}
        on_columns = [p.text for p in parts if {name.lower() for name in p.source_columns} <= by_partition]

        @cache
        def input_of(read: str, generated: bool) -> frozenset[str]:
            return input_files(spark, read, {} if generated else {GENERATED_FILTERS: "false"})

        every = [part.text for part in parts]
        _ask_at_once(input_of, dict.fromkeys(_read(source, texts) for texts in (every, *([text] for text in every))))
        files = listing.result()
    names = input_names(files, path)

    def kept(texts: Sequence[str], *, generated: bool = True) -> tuple[LogFile, ...]:
        if not texts:
            return files
        left = input_of(_read(source, texts), generated)
        return tuple(file for file, name in zip(files, names, strict=True) if name in left)

    after = kept(every)
    skipping = is_on(read_confs(spark, (STATS_SKIPPING,)), STATS_SKIPPING)
    generates = bool(by_partition) and "generatedColumns" in features
    plain = kept(every, generated=False) if generates else after
    generated = optimize_generated_columns(spark, source, predicate) if generates and skipping else ()
    asked = {filter_: text for filter_ in generated if (text := as_sql(filter_, schema))}
    on_partitions = paths_of(kept([*on_columns, *asked.values()]))
    # where a derived filter cannot be asked by itself: what it alone skips
    on_partitions -= paths_of(plain) - paths_of(after)
    pruned = paths_of(files) - on_partitions
    physical = {column.name: column.physical_name for column in logged.result()} if logged else {}
    return ScanExplained(
        table=table,
        version=at,
        predicate=predicate,
        before=_size(files),
        after_partitions=_size([file for file in files if file.path in on_partitions]),
        after_statistics=_size(after),
        generated=generated,
        files=file_evidence(physical, detail, files, after, parts, schema, kept),
        paths=tuple(file.path for file in files),
        kept=paths_of(after),
        pruned=pruned,
        derived=pruned & paths_of(kept(on_columns, generated=not generates)),
        unasked=tuple(filter_ for filter_ in generated if filter_ not in asked),
        note="" if skipping else NO_SKIPPING,
    )


def _schema_of_read(spark: SparkSession, source: str, predicate: str) -> tuple[Column, ...]:
    texts = conjuncts(predicate)
    try:
        return columns_of(schema_of(spark, _read(source, texts)))
    except EngineError as error:
        raise_if_all_ends(error)
        # the error of one by itself names nothing but what was typed
        end = 0
        for text in texts:
            start = predicate.index(text, end)
            end = start + len(text)
            asked = f"SELECT * FROM {source} WHERE {text}"
            try:
                explain(spark, asked)
            except EngineError as of_one:
                raise in_whole(of_one, len(asked) - len(text), predicate, start) from error
        raise


def _delta_detail(spark: SparkSession, table: str) -> Any:
    """The row of DESCRIBE DETAIL of a Delta table."""
    try:
        detail = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    except Exception as error:
        raise translate(error) from error
    if detail["format"] != "delta":
        raise EngineError("DELTA_TABLE_ONLY_OPERATION", f"{table} is not a Delta table.", "Only Delta skips files.")
    return detail


def _ask_at_once(ask: Callable[[str, bool], object], reads: Iterable[str]) -> None:
    """Delta answers for many files with one core: so several are asked at a time."""
    with ThreadPoolExecutor(AT_ONCE, "explore") as pool:
        list(pool.map(lambda read: ask(read, True), reads))


def _read(source: str, conditions: Sequence[str]) -> str:
    # TRUE, because WHERE (flag) alone would be read as an alias of the table with a column list
    return f"SELECT * FROM {source} WHERE TRUE AND " + " AND ".join(f"({text}\n)" for text in conditions)


def paths_of(files: Sequence[LogFile]) -> frozenset[str]:
    return frozenset(file.path for file in files)


def _size(files: Sequence[LogFile]) -> Size:
    return Size(len(files), sum(file.bytes for file in files), partitions_of(files))


def optimize_generated_columns(spark: SparkSession, source: str, predicate: str) -> tuple[str, ...]:
    """The partition filters that Delta derives from generated columns (PrepareDeltaScan), as Spark prints them: those
    that the read has not without the derivation. Their forms are many (OptimizablePartitionExpression)."""
    with confs_set(spark, {GENERATED_FILTERS: "false"}):
        plain = _partition_filters(spark, _read(source, [predicate]))
    return tuple(text for text in _partition_filters(spark, _read(source, [predicate])) if text not in plain)


def _partition_filters(spark: SparkSession, read: str) -> tuple[str, ...]:
    physical = explained(spark, read).physical
    scan = next((scan for scan in SCAN.finditer(physical) if not in_subquery(physical, scan.start())), None)
    return tuple(dict.fromkeys(_split(scan["partition"]))) if scan else ()


def as_sql(derived: str, schema: Sequence[Column]) -> str | None:
    """A derived filter as SQL, where it compares columns with literals: Spark prints those without quotes.

    It keeps what Delta keeps: files of the NULL partition among them.
    """
    types = {column.name: column.type for column in schema}
    atoms = [*ATOM.finditer(derived)]
    of_types = {types.get(atom["column"] or atom["null"]) for atom in atoms}
    if not atoms or not of_types.isdisjoint((None, "binary")) or not AROUND_ATOMS.fullmatch(ATOM.sub("", derived)):
        return None
    # a text may look like a comparison
    of_texts = any(str(of_type).startswith("string") for of_type in of_types)
    if of_texts and sum(bool(atom["column"]) for atom in atoms) > (2 if TWICE.match(derived) else 1):
        return None
    return ATOM.sub(
        lambda atom: (
            f"isnull({quote(atom['null'])})"
            if atom["null"]
            else f"({quote(atom['column'])} {atom['sign']} CAST({string(atom['value'])} AS {types[atom['column']]}))"
        ),
        derived,
    )


def explained(spark: SparkSession, query: str) -> Explained:
    """The plans of ``query``, its scans printed whole."""
    with confs_set(spark, WHOLE):
        return explain(spark, query)


def is_query(typed: str) -> bool:
    """Whether a text is a query, and no predicate."""
    return [token.word for token in tokenize(typed)[:1]] in (["SELECT"], ["WITH"], ["FROM"])


def explore_query(spark: SparkSession, query: str) -> tuple[QueryScan, ...]:
    """One entry for each Delta scan of ``query``, structurally equal ones together. Reads no data.

    What Spark refuses raises an EngineError: a command is refused like any text that is no query.
    """
    # in brackets: spark.sql runs a command as soon as it is given one
    typed, query = query, f"SELECT * FROM ({query}\n)"
    try:
        plans = explained(spark, query)
    except EngineError as error:
        raise_if_all_ends(error)
        explain(spark, typed)  # its error names nothing but what was typed
        raise
    physical = plans.physical
    scans = [match for match in SCAN.finditer(physical) if "Delta" in match["index"] or "Tahoe" in match["index"]]
    kept = input_files(spark, query, {})
    travels = _travels(spark, query, plans.analyzed)
    counted: dict[tuple[str, str, tuple[str, ...]], int] = {}
    for scan in scans:
        filters = tuple(dict.fromkeys((*_split(scan["partition"]), *_split(scan["data"]))))
        key = (scan["name"].strip(), scan["path"], filters)
        # a subquery is printed wherever its value is used
        counted[key] = counted.get(key, 0) + (not in_subquery(physical, scan.start()))
    paths = [path for (_, path, _), times in counted.items() if times]

    @cache
    def listed(path: str) -> tuple[int, tuple[LogFile, ...]]:
        version = current_version(spark, f"delta.{quote(path)}")
        return version, list_files(spark, path, version)

    entries = []
    for (name, path, filters), times in counted.items():
        table = name if name and name != "delta" else f"delta.{quote(path)}"
        version, files = listed(path)
        left = files_among(files, path, kept) if times else None
        sure = paths.count(path) == 1 and not travels
        entries.append(
            QueryScan(
                table=table,
                path=path,
                version=None if travels else version,
                filters=filters,
                times=times or 1,
                before=None if travels else _size(files),
                after=_size(left) if left is not None else None,
                accuracy="unknown" if left is None else "exact" if sure else "estimated",
            )
        )
    return tuple(entries)


def _travels(spark: SparkSession, query: str, analyzed: str) -> bool:
    """Whether the query, or a view in it, may read another version than the newest."""
    texts = [query, *(view_text(spark, name) for name in dict.fromkeys(VIEW.findall(analyzed)))]
    return any(not text or TRAVEL.search(text) for text in texts)


def in_subquery(physical: str, at: int) -> bool:
    """Whether the node that is printed at ``at`` is below a subquery's."""
    *above, line = physical[:at].split("\n")
    depth = len(line)
    for node in reversed(above):
        begin = len(node) - len(node.lstrip(" :+-"))
        if begin < depth:
            if node[begin:].startswith("Subquery"):
                return True
            depth = begin
    return False


def _split(printed: str) -> tuple[str, ...]:
    """The filters of a printed list, ids taken out; commas inside brackets do not part them."""
    parts, depth, begin = [], 0, 0
    text = ID.sub("", printed)
    for index, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append(text[begin:index].strip())
            begin = index + 1
    return tuple(part for part in (*parts, text[begin:].strip()) if part)
