"""Errors that Delta would raise while running, foreseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches
from engine.merge.plan_writes import COLLECT_STATISTICS, Promise
from engine.model.conflicts import Conflicts
from engine.model.counted import count, count_and_verb
from engine.model.plan import Decision, Refused
from engine.model.write import WritePlan
from engine.preflight.assignments import NO_PARTITION
from engine.preflight.target_rules import BY_NAME, TargetRules
from engine.spark.confs import is_on
from engine.sql.extractors import Extracted
from engine.sql.names import quote
from engine.sql.parse import MergeClause, MergeStatement
from engine.sql.sql_text import columns_named, dotted_names, function_names
from engine.sql.store_types import can_cast_nested, is_same
from engine.table.table_features import FEATURES, WRITER_FEATURES

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
MISMATCH = "DELTA_NUM_RECORDS_MISMATCH"
VALIDATES = "spark.databricks.delta.numRecordsValidation.enabled"
INVALID_PROTOCOL = "DELTA_INVALID_PROTOCOL_VERSION"
UNSUPPORTED_FEATURES = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
AMBIGUOUS_NAME = "AMBIGUOUS_REFERENCE"
UNRESOLVED = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
INVALID_NAME = "INVALID_ATTRIBUTE_NAME_SYNTAX"
REPARTITION = "spark.databricks.delta.merge.repartitionBeforeWrite.enabled"
OPTIMIZE_WRITE = "spark.databricks.delta.optimizeWrite.enabled"
JOIN_NOT_BOOLEAN, FILTER_NOT_BOOLEAN = "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"
# by the query that Delta builds of it: a CASE, a join, a filter, a column of a Dataset, beside another condition
NOT_BOOLEAN = (
    "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    JOIN_NOT_BOOLEAN,
    FILTER_NOT_BOOLEAN,
    "CANNOT_UP_CAST_DATATYPE",
    "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
)
NO_COLUMN = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS"
NON_STRUCT = "DELTA_UNSUPPORTED_INVARIANT_NON_STRUCT"
INPUT_FILE = frozenset(("input_file_name", "input_file_block_start", "input_file_block_length"))
MISSING = "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION"
DROPPED = "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"
REPLACED, ADDED = ("filePath", "rowIndexCol"), ("deletionVectorId", "dvFilePath", "_metadata")
"""What Delta names its columns for deletion vectors."""


def not_boolean(merge: AnalyzedMerge) -> Refused | None:
    """A condition that is not BOOLEAN: Delta accepts it at analysis, and fails when it builds a query with it."""
    for text, type_ in merge.not_boolean.items():
        if type_ == "void" and _becomes_boolean(merge.typed, text):
            continue
        first = _by_on(merge.typed) if text == merge.typed.condition else NOT_BOOLEAN[0]
        return Refused(
            condition=first,
            also=tuple(one for one in NOT_BOOLEAN if one != first),
            message=f"The condition {text} is of type {type_.upper()}, not BOOLEAN: Delta takes that at analysis, and "
            "fails while it runs.",
            hint="Write a comparison, or CAST(… AS BOOLEAN).",
        )
    return None


def _becomes_boolean(statement: MergeStatement, condition: str) -> bool:
    """Whether Spark makes a BOOLEAN of the NULL: it does in an IF, to which MergeOutputGeneration turns the only clause
    of a kind; not in a CASE, nor in the filter of a MERGE that only inserts or has matched clauses alone."""
    kinds = (statement.matched, statement.not_matched, statement.not_matched_by_source)
    filters = not statement.not_matched_by_source and not (statement.matched and statement.not_matched)
    of_it = [clauses for clauses in kinds if any(one.condition == condition for one in clauses)]
    return statement.condition != condition and not filters and all(len(clauses) == 1 for clauses in of_it)


def _by_on(statement: MergeStatement) -> str:
    """The class for ON: Delta joins by it, and filters the files before, by a constant too, where it inserts."""
    filters = statement.not_matched and not statement.not_matched_by_source
    return FILTER_NOT_BOOLEAN if filters and not columns_named(statement.condition) else JOIN_NOT_BOOLEAN


def reads_input_file(merge: AnalyzedMerge, decision: Decision, matches: Matches) -> Refused | None:
    """SET and VALUES are computed over a join of two sides, in which Spark knows no input file, unless Delta
    materializes the source: then the target's files are the only ones (PreReadCheck)."""
    clauses = merge.statement.clauses if matches.touched else merge.statement.not_matched
    texts = [value for clause in clauses for _, value in clause.assignments]
    names = sorted(name for text in texts for name in function_names(text) & INPUT_FILE)
    if decision.materialize or not names:
        return None
    return Refused(
        condition="MULTI_SOURCES_UNSUPPORTED_FOR_EXPRESSION",
        message=f"{names[0]}() in SET or VALUES is computed over both sides, and Spark refuses that while it runs.",
        hint="Compute it in the source: USING (SELECT *, input_file_name() AS file FROM …) AS s.",
    )


def ambiguity(statement: MergeStatement, conflicts: Conflicts) -> Refused | None:
    """MergeIntoCommandBase.throwErrorOnMultipleMatches: several source rows for one target row."""
    if not conflicts.count or statement.only_one_unconditional_delete:
        return None
    return Refused(
        condition=AMBIGUOUS,
        message=f"{count_and_verb(conflicts.count, 'target row', 'are')} matched by more than one source row.",
        rows=tuple({**key.key, "source rows": str(key.source_rows)} for key in conflicts.keys),
        hint="Keep one source row for each key"
        + (": the plan's conflicts hold a source that does, to paste after USING." if conflicts.dedupe else "."),
    )


def more_rows(
    statement: MergeStatement, matches: Matches, promise: Promise, confs: Mapping[str, str]
) -> Refused | None:
    """MergeIntoCommandBase.validateNumRecords, where the log counts the rows: a MERGE without INSERT writes no more of
    them than it takes away. One that writes a row twice has a condition that is NULL for one of two source rows."""
    counted = is_on(confs, COLLECT_STATISTICS) and all(file.file.rows is not None for file in matches.touched)
    if statement.not_matched or promise.write.deletion_vectors or not (counted and is_on(confs, VALIDATES)):
        return None
    added, removed = promise.metrics["numOutputRows"], sum(file.rows for file in matches.touched)
    if added <= removed:
        return None
    return Refused(
        condition=MISMATCH,
        message=f"Delta would write {count(added, 'row')} for {removed:,}: a target row is matched twice, once with a "
        "condition that is NULL.",
        hint="Write the condition so that it is never NULL (coalesce), or keep one source row for each key.",
    )


def unwritable(version: int, features: Iterable[str]) -> Refused | None:
    """DeltaLog.protocolWrite, before anything is done: a protocol that this Delta can read and cannot write.
    What it cannot read it refuses at analysis. ``version`` is the protocol's minWriterVersion."""
    if version > WRITER_FEATURES:
        return Refused(
            condition=INVALID_PROTOCOL,
            message=f"The table requires writer version {version}, and this Delta writes up to {WRITER_FEATURES}.",
            hint="Write to it with a newer Delta.",
        )
    unknown = sorted(name for name in features if name not in FEATURES)
    if not unknown:
        return None
    return Refused(
        condition=UNSUPPORTED_FEATURES,
        message=f"The table requires features of its writers that this Delta does not have: {', '.join(unknown)}.",
        hint="Write to it with a Delta that has them, or drop them there (ALTER TABLE … DROP FEATURE).",
    )


def reserved_names(merge: AnalyzedMerge, decision: Decision, matches: Matches, write: WritePlan) -> Refused | None:
    """Columns with the names of those that Delta adds to the target or the source while it runs.

    ``_row_id_`` and ``_file_name_`` collide in findTouchedFiles if the source has them, which drops
    ``_source_row_present_`` of the source before it searches by it; the others collide in writeAllChanges, if there is
    something to write: seen by running each on either side, with and without deletion vectors. A source that Delta
    materializes has its used columns only. How apply freezes it changes nothing: what the plain MERGE refuses is
    refused. InsertOnlyMergeExecutor adds some for several INSERTs alone.
    """
    source, target = _names(merge, decision)
    statement = merge.statement
    if write.join_type != "leftanti":
        finding = _found(source, "source", "_row_id_", "_file_name_")
        if finding:
            return _reserved(AMBIGUOUS_NAME, finding)
        dropped = _found(_searched_by(merge), "source", "_source_row_present_")
        if dropped:
            # Spark's class tells whether another column of that name is left: the search reads the target's too
            return _reserved(MISSING if "_source_row_present_" in target else DROPPED, dropped)
    if not matches.touched:
        several = statement.not_matched if len(statement.not_matched) > 1 else ()
        ambiguous = _found(target, "target", "_row_dropped_") if several else []
        ambiguous += _found(source, "source", *_condition_names(several))
        return _reserved(AMBIGUOUS_NAME, ambiguous) if ambiguous else None
    conditions = _condition_names((*statement.matched, *statement.not_matched, *statement.not_matched_by_source))
    ambiguous = _found(target, "target", "_source_row_present_", "_row_dropped_", *conditions)
    ambiguous += _found(source, "source", "_target_row_present_", *conditions)
    used = {name.lower() for name in merge.columns_used}
    missing = _found(used, "source", "_source_row_present_")
    if _deletes_twice(merge, matches, write):
        numbers = ("_source_row_index",) if statement.not_matched else ()
        ambiguous += [*_found(source, "source", "_target_row_index_"), *_found(target, "target", *numbers)]
        missing += [*_found(target, "target", "_target_row_index_"), *_found(used, "source", *numbers)]
    if ambiguous:
        return _reserved(AMBIGUOUS_NAME, ambiguous)
    if write.join_type != "inner":
        missing += _found(target, "target", "_target_row_present_")
    return _reserved(MISSING, missing) if missing else None


def _deletes_twice(merge: AnalyzedMerge, matches: Matches, write: WritePlan) -> bool:
    """Whether Delta numbers rows to keep a row that several source rows delete from the change data feed but once
    (MergeOutputGeneration.deduplicateCDFDeletes)."""
    return merge.statement.only_one_unconditional_delete and write.change_data_feed and matches.conflicts > 0


def _condition_names(clauses: Sequence[MergeClause]) -> list[str]:
    """What Delta calls the conditions of ``clauses``, each computed once
    (MergeOutputGeneration.generatePrecomputedConditionsAndDF)."""
    kinds = [clause.action_kind for clause in clauses if clause.condition is not None]
    return [f"_{kind}_condition_{n}_" for n, kind in enumerate(kinds)]


def reserved_by_vectors(merge: AnalyzedMerge, decision: Decision, matches: Matches, write: WritePlan) -> Refused | None:
    """Columns with the names of those that Delta adds to the join of both sides for the deletion vectors, which it
    writes after the rows (DeletionVectorBitmapGenerator). One column of the join it may replace by its own, not two."""
    if not (write.deletion_vectors and matches.touched):
        return None
    source, target = _names(merge, decision)
    found = [f"{name} of both sides" for name in REPLACED if name.lower() in source & target]
    for names, side in ((source, "source"), (target, "target")):
        found += [f"{name} of the {side}" for name in ADDED if name.lower() in names]
    return _reserved(AMBIGUOUS_NAME, found) if found else None


def changed_types(rules: TargetRules) -> Refused | None:
    """ImplicitMetadataOperation.checkDependentExpressions: schema evolution widens no type (delta.enableTypeWidening)
    that a CHECK constraint or a generated column rests on. It is the first thing that a MERGE does."""
    generated = {column.name: column.generated_as for column in rules.columns if column.generated_as}
    for column in rules.columns:
        for path in () if column.before is None else _changed_paths((column.name,), column.before, column.type):
            for condition, what, texts in (
                ("DELTA_CONSTRAINT_DATA_TYPE_MISMATCH", "CHECK constraint", rules.checks),
                ("DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH", "generated column", generated),
            ):
                resting = [f"{name} ({text})" for name, text in texts.items() if _rests_on(text, path)]
                if resting:
                    return Refused(
                        condition=condition,
                        message=f"The type of {'.'.join(path)} would be widened, and a {what} rests on it: "
                        f"{', '.join(resting)}.",
                        hint="Cast it in the source to the type that the target has.",
                    )
    return None


def _changed_paths(path: tuple[str, ...], before: DataType, after: DataType) -> Iterator[tuple[str, ...]]:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(before, StructType) and isinstance(after, StructType):
        known = {field.name.lower(): field.dataType for field in before.fields}
        for field in after.fields:
            if field.name.lower() in known:
                yield from _changed_paths((*path, field.name), known[field.name.lower()], field.dataType)
    elif isinstance(before, ArrayType) and isinstance(after, ArrayType):
        yield from _changed_paths((*path, "element"), before.elementType, after.elementType)
    elif isinstance(before, MapType) and isinstance(after, MapType):
        yield from _changed_paths((*path, "key"), before.keyType, after.keyType)
        yield from _changed_paths((*path, "value"), before.valueType, after.valueType)
    elif not is_same(before, after):
        yield path


def _rests_on(text: str, path: Sequence[str]) -> bool:
    """Whether one of the names in ``text`` begins as ``path`` does, or ``path`` as it does."""
    return any(
        all(one == other.lower() for one, other in zip(names, path, strict=False)) for names in dotted_names(text)
    )


def structs_by_place(matches: Matches, write: WritePlan, rules: TargetRules) -> Refused | None:
    """MergeIntoCommandBase.postEvolutionTargetExpressions: a row that is copied, and one in the change data feed, is
    cast to the evolved schema; by place Spark casts no struct to one of more fields. EXPLAIN does not tell: those casts
    are made while it runs."""
    if not matches.touched or (write.deletion_vectors and not write.change_data_feed):
        return None
    for column in () if rules.cast.by_name else rules.columns:
        if column.before is not None and not can_cast_nested(column.before, column.type):
            return Refused(
                condition="DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
                message=f"{column.name} would get a field, and rows that are there already cannot be written with it "
                "while structs are assigned by place.",
                hint=f"Set {BY_NAME} to true, or add the field first: ALTER TABLE … ADD COLUMN.",
            )
    return None


def feed_names(merge: AnalyzedMerge, matches: Matches, write: WritePlan) -> Refused | None:
    """MergeOutputGeneration.generateCdcAndOutputRows: the rows of a change data feed are built of columns by their
    names between back-ticks."""
    ticked = [name for name in merge.type_after.names if "`" in name]
    if not (ticked and write.change_data_feed and matches.touched):
        return None
    return Refused(
        condition=INVALID_NAME,
        message=f"Delta's MERGE writes no change data feed of a column with a back-tick in its name: {ticked[0]}.",
        hint="Rename the column, or set the table's delta.enableChangeDataFeed to false.",
    )


def partition_names(merge: AnalyzedMerge, matches: Matches, detail: Any, confs: Mapping[str, str]) -> Refused | None:
    """MergeIntoCommandBase.writeFiles: rows are shuffled by ``col(name)``, which takes a dot for a struct's field, and
    a back-tick for a quote.

    Where anything is written to a partitioned table, unless an optimized write shuffles by itself. ``detail`` is the
    row of DESCRIBE DETAIL.
    """
    optimized = dict(detail["properties"] or {}).get("delta.autoOptimize.optimizeWrite", "false")
    shuffled = is_on(confs, REPARTITION) and not is_on(confs, OPTIMIZE_WRITE, optimized)
    if not shuffled or not (matches.touched or merge.statement.not_matched):
        return None
    partitions = detail["partitionColumns"] or ()
    columns = {column.name.lower() for column in merge.target_schema}
    # the first part may be a struct that has the field
    dotted = [p for p in partitions if "." in p and p.partition(".")[0].lower() not in columns]
    ticked = [p for p in partitions if "`" in p]
    # a name is read before it is looked for; between two back-ticks it is read as another one
    for conditions, sign, names in (((INVALID_NAME, UNRESOLVED), "back-tick", ticked), ((UNRESOLVED,), "dot", dotted)):
        if names:
            return Refused(
                condition=conditions[0],
                also=conditions[1:],
                message="Delta's MERGE cannot write to a table that is partitioned by a name with a "
                f"{sign}: {', '.join(names)}.",
                hint=f"Rename the column, or set {REPARTITION} to false.",
            )
    return None


def beyond_structs(name: str, check: Extracted) -> Refused | None:
    """DeltaInvariantCheckerExec.buildExtractor: a CHECK with a dot behind an array or a map, at which Delta fails
    before it writes a row."""
    if not check.leaves_structs:
        return None
    return Refused(
        condition=NON_STRUCT,
        message=f"Delta writes to no table with the CHECK {name}: a dot in it stands behind what is no struct.",
        hint="Drop the constraint; written anew, with brackets (m['key']) for a map, it holds.",
    )


def checks_beyond_structs(merge: AnalyzedMerge, matches: Matches, rules: TargetRules) -> Refused | None:
    """The first of them, where Delta writes files, rows in them or not."""
    if not (matches.touched or merge.statement.not_matched):
        return None
    found = (beyond_structs(name, rules.as_checked(text)) for name, text in rules.checks.items())
    return next((one for one in found if one), None)


def only_partitions(merge: AnalyzedMerge, matches: Matches, write: WritePlan, detail: Any) -> Refused | None:
    """TransactionalWrite.checkPartitionColumns: a column that is a NULL without a type is not written. Where files are
    rewritten, the change data feed adds a column, and row tracking two (writeAllChanges); inserting alone, they add
    none."""
    left = [field.name for field in merge.type_after.fields if field.dataType.typeName() != "void"]
    partitions = detail["partitionColumns"] or ()
    tracks_rows = is_on(dict(detail["properties"] or {}), "delta.enableRowTracking", "false")
    adds = matches.touched and (write.change_data_feed or tracks_rows)
    if adds or len(left) > len(partitions) or not (matches.touched or merge.statement.not_matched):
        return None
    return Refused(
        condition="DELTA_NON_PARTITION_COLUMN_ABSENT" if partitions else NO_COLUMN,
        message="All columns beside those that partition the table are NULLs without a type, which Delta does not "
        "write, and it writes no file without a column.",
        hint="Add a column with a type: ALTER TABLE … ADD COLUMN.",
    )


def nulls_by_name(merge: AnalyzedMerge, matches: Matches) -> Refused | None:
    """CONVERT TO DELTA logs the partition of NULL by its folder's name, which a read shows as a text and each write
    makes NULL: the rows of such a file change though no clause says so."""
    found = sorted({name for one in matches.touched for name, to in one.file.partition.items() if to == NO_PARTITION})
    if not found:
        return None
    return Refused(
        condition="PARTITION_NULL_AS_TEXT",
        message=f"The table was converted from Parquet with NULL in the partition column {', '.join(found)}: reads "
        f"show the text {NO_PARTITION}, and the MERGE would change it to NULL in each row that it writes.",
        hint=f"UPDATE {merge.typed.target.text} SET {quote(found[0])} = NULL WHERE {quote(found[0])} = "
        f"'{NO_PARTITION}', and plan again.",
    )


def _searched_by(merge: AnalyzedMerge) -> set[str]:
    """The source's columns that findTouchedFiles reads: those of ON, and of the conditions where every clause is WHEN
    MATCHED."""
    conditions = merge.matched if merge.statement.matched_only else ()
    parts = (*merge.on, *(part for condition in conditions for part in condition))
    return {name.lower() for part in parts for name in part.source_columns}


def _names(merge: AnalyzedMerge, decision: Decision) -> tuple[set[str], set[str]]:
    """The names of the source's columns that Delta joins, and of the target's."""
    source = {column.name.lower() for column in merge.source_schema}
    if decision.materialize:
        source &= {name.lower() for name in merge.columns_used}
    return source, {column.name.lower() for column in merge.target_schema}


def _found(columns: set[str], side: str, *names: str) -> list[str]:
    return [f"{name} of the {side}" for name in names if name in columns]


def _reserved(condition: str, names: Iterable[str]) -> Refused:
    return Refused(
        condition=condition,
        message=f"Delta's MERGE uses a column of the same name for itself: {', '.join(names)}.",
        hint="Rename it: in the source by SELECT … AS, in the target by ALTER TABLE … RENAME COLUMN.",
    )
