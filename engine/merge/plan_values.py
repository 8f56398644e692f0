"""What a plan says of its statement, its target and its source, and the id that all of it makes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine.merge.analyze import AnalyzedMerge
from engine.merge.prepare_delta_scan import DeltaScan
from engine.merge.prepare_source import PreparedSource
from engine.model.plan import PlanningState, Source, Statement, Target
from engine.model.write import ColumnAfter
from engine.spark.schema import columns_of
from engine.sql.names import names_path, quoted_if_needed
from engine.sql.parse import MergeStatement, Script
from engine.table.delta_log import live_rows
from engine.table.tables import name_parts

SESSION_CATALOG = "spark_catalog"


def statement_value(statement: MergeStatement, script: Script, params: dict[str, str]) -> Statement:
    return Statement(
        sql=statement.sql,
        template=script.template,
        setup=script.setup,
        params=params,
        condition=statement.condition,
        clauses=tuple(clause.value() for clause in statement.clauses),
        insert_only=statement.insert_only,
        matched_only=statement.matched_only,
        schema_evolution=statement.schema_evolution,
    )


def schema_after(merge: AnalyzedMerge) -> tuple[ColumnAfter, ...]:
    """The columns that the MERGE leaves, () where it does not change them."""
    before = {column.name.lower(): column.type for column in merge.target_schema}
    after = tuple(
        ColumnAfter(name=column.name, type=column.type, type_before=before.get(column.name.lower()))
        for column in columns_of(merge.type_after)
    )
    return () if all(column.type == column.type_before for column in after) else after


def table_name(merge: AnalyzedMerge) -> str:
    """The parts typed, behind the schema that they are found in; the name of the table behind a view or IDENTIFIER. So
    a table has one name, whatever the session's schema was."""
    parts = merge.typed.target.parts
    typed = [part.lower() for part in parts]
    named = name_parts(merge.target_name)
    full = [part.lower() for part in named]
    if not typed or not (names_path(typed) or typed == full[-len(typed) :]):
        return merge.target_name
    before = () if names_path(typed) else named[: -len(typed)]
    return ".".join(map(quoted_if_needed, (*before[before[:1] == (SESSION_CATALOG,) :], *parts)))


def target_value(merge: AnalyzedMerge, detail: Any, scan: DeltaScan) -> Target:
    """``detail`` is the row of DESCRIBE DETAIL."""
    return Target(
        name=table_name(merge),
        path=merge.path,
        table_id=str(detail["id"]),
        version=merge.version,
        features=tuple(detail["tableFeatures"] or ()),
        num_files=len(scan.before),
        num_bytes=sum(file.bytes for file in scan.before),
        num_rows=live_rows(scan.before),
        partition_columns=tuple(detail["partitionColumns"] or ()),
        clustering_columns=tuple(detail["clusteringColumns"] or ()),
    )


def source_value(merge: AnalyzedMerge, source: PreparedSource) -> Source:
    typed = merge.statement.source
    return Source(
        # with the alias as typed: the one of our queries is nobody's
        sql=merge.statement.sql[typed.start : typed.end_alias],
        columns_used=merge.columns_used,
        num_rows=source.num_rows,
        fingerprint=source.fingerprint,
        pinned_versions=source.pinned_versions,
        pinned_id=source.pinned_id,
        volatile=source.volatile,
    )


def plan_id(
    statement: Statement,
    target: Target,
    source: Source,
    confs: Mapping[str, str],
    state: PlanningState,
    expectations: Sequence[Mapping[str, Any]] = (),
) -> str:
    """32 hex digits over what a plan means: statement, target id and version, source fingerprint, confs, state, and
    what is expected of the table, in any order."""
    meaning: dict[str, Any] = {
        "sql": statement.sql,
        "setup": statement.setup,
        "params": statement.params,
        "table_id": target.table_id,
        "version": target.version,
        "source": [source.fingerprint, source.pinned_versions],
        "confs": dict(confs),
        "state": state.model_dump(mode="json"),
    }
    if expectations:
        meaning["expectations"] = sorted(json.dumps(one, sort_keys=True) for one in expectations)
    return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()[:32]
