"""The pieces of a plan that were not saved with it, put together again to ask more about its rows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.commit.staleness import changed_metadata
from engine.merge.analyze import analyze_again
from engine.merge.prepare_source import PreparedSource, get_merge_source, used_columns
from engine.model.errors import EngineError, StalePlanError
from engine.model.plan import Plan
from engine.preflight.assignments import assignments
from engine.preflight.planned_merge import PlannedMerge
from engine.preflight.target_reads import describe_detail, doubtful_files, target_columns
from engine.preflight.target_rules import target_rules
from engine.table.column_rules import CHECK
from engine.table.commits import current_version
from engine.table.logged_schema import LoggedMetadata, logged_metadata

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def planned_merge(spark: SparkSession, plan: Plan) -> PlannedMerge:
    """Analyze the MERGE of ``plan`` again, in the session that planned. Raises EngineError: ``SOURCE_GONE``, and
    ``STALE_PLAN`` where the columns or properties of the table changed since."""
    view = plan.session.source_view
    try:
        get_merge_source(spark, view)
    except RuntimeError as error:
        raise source_gone() from error
    _check_rules(spark, plan)
    merge = analyze_again(spark, plan)
    source = PreparedSource(
        view=view or "",
        columns=used_columns(merge),
        num_rows=plan.source.num_rows,
        fingerprint=plan.source.fingerprint,
        pinned_versions=plan.source.pinned_versions,
        pinned_table=None,
        volatile=plan.source.volatile,
        hint=None,
    )
    detail = describe_detail(spark, merge.target_name)
    columns = target_columns(spark, merge.path, merge.version, detail)
    rules = target_rules(spark, merge, columns, detail)
    files = doubtful_files(spark, merge, detail, columns)
    return PlannedMerge(merge, source, rules, assignments(spark, merge, rules), files)


def _check_rules(spark: SparkSession, plan: Plan) -> None:
    """The rows of the plan's version are read, and what is written of them is told by the table as it is now."""
    planned_at, now = plan.target.version, current_version(spark, plan.target.name)
    if now == planned_at:
        return
    versions = (logged_metadata(spark, plan.target.path, version) for version in (planned_at, now))
    changed = changed_metadata(*map(rules_of, versions))
    if changed:
        raise StalePlanError(
            "STALE_PLAN",
            f"{plan.target.name} itself changed since the plan: {'; '.join(changed)}.",
            "Plan again, and then ask again.",
        )


def rules_of(metadata: LoggedMetadata) -> LoggedMetadata:
    """What of the metadata says how a row is written."""
    configuration = {key: value for key, value in metadata.configuration.items() if key.lower().startswith(CHECK)}
    fields = {name: _without_comment(field) for name, field in metadata.fields.items()}
    return replace(
        metadata, configuration=configuration, fields=fields, features=(), min_reader_version=0, min_writer_version=0
    )


def _without_comment(field: str) -> str:
    values = json.loads(field)
    values.get("metadata", {}).pop("comment", None)
    return json.dumps(values)


def source_gone() -> EngineError:
    return EngineError(
        "SOURCE_GONE",
        "The frozen source of this plan is gone: with its session, or with a commit that was made or failed.",
        "Plan again, and then ask again.",
    )
