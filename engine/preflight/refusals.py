"""The first error that Delta would raise while the MERGE runs, in the order in which it would raise them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.model.plan import Refused
from engine.preflight.check_rows import check_rows, first_of
from engine.preflight.commit_errors import append_only, moved_identity, without_statistics
from engine.preflight.evolution_errors import new_columns, unenforceable, void_column
from engine.preflight.failing_conditions import failing_condition
from engine.preflight.findings import Findings
from engine.preflight.functions_in_checks import sql_function_in_check
from engine.preflight.metadata_errors import (
    ambiguity,
    changed_types,
    checks_beyond_structs,
    feed_names,
    more_rows,
    not_boolean,
    nulls_by_name,
    only_partitions,
    partition_names,
    reads_input_file,
    reserved_by_vectors,
    reserved_names,
    structs_by_place,
    unwritable,
)
from engine.preflight.nulled_casts import nulled_cast
from engine.preflight.target_reads import DescribedTarget
from engine.preflight.unmatched_dv_rows import unexpected_rows
from engine.preflight.written_times import unwritten_times
from engine.spark.engine_versions import engine_versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def refused_at_start(merge: AnalyzedMerge, target: DescribedTarget) -> Refused | None:
    """What the metadata forbids, before any file is looked for."""
    before, after = merge.target_type, merge.type_after
    return (
        void_column(after, target)
        or unwritable(int(target.detail["minWriterVersion"]), target.features)
        or changed_types(target.rules)
        or unenforceable(before, after, target)
        or new_columns(before, after, target)
        or not_boolean(merge)
    )


def refused_while_writing(spark: SparkSession, findings: Findings, *, private: bool) -> Refused | None:
    """What fails once the touched files are known: names, conditions, rows, and the commit itself."""
    merge, source, matches, promise = findings.merge, findings.source, findings.matches, findings.promise
    basis, target, write = findings.basis, findings.basis.target, findings.promise.write
    return (
        reserved_names(merge, basis.decision, matches, write)
        or ambiguity(merge.statement, findings.conflicts)
        or structs_by_place(matches, write, target.rules)
        or feed_names(merge, matches, write)
        or reads_input_file(merge, basis.decision, matches)
        or partition_names(merge, matches, target.detail, basis.confs)
        or only_partitions(merge, matches, write, target.detail)
        or nulls_by_name(merge, matches)
        or checks_beyond_structs(merge, matches, target.rules)
        or sql_function_in_check(spark, merge, matches, target.rules, basis.functions)
        or nulled_cast(spark, merge, source, matches, write)
        or failing_condition(spark, merge, source, matches, write, private=private)
        or unwritten_times(merge.statement, matches, target, promise, basis.state.confs, engine_versions(spark).spark)
        or first_of(
            check_rows(spark, merge, source, matches, target, promise=promise, private=private),
            unexpected_rows(spark, merge, source, matches, write, private=private),
        )
        or reserved_by_vectors(merge, basis.decision, matches, write)
        or more_rows(merge.statement, matches, promise, basis.confs)
        or moved_identity(merge, matches, target)
        or without_statistics(merge, matches, target, promise, basis.confs)
        or (append_only(promise.metrics) if target.rules.append_only else None)
    )
