"""Findings → what Delta would commit without an error, and the operator can hardly have meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from engine.merge.find_touched_files import Matches
from engine.merge.run_with_source_lost_retries import lost_blocks
from engine.model.checks import SILENT_FAULTS, Checks
from engine.model.counted import count, percent, verb_of
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.plan import Remark
from engine.preflight.findings import Findings
from engine.preflight.inserted_faults import inserted_rows, keys_outside_on, written_keys_faults
from engine.preflight.key_faults import keys_that_collide, on_without_key
from engine.preflight.updated_faults import (
    BACK,
    SAME,
    key_columns_of_source,
    keys_of_flagged,
    rows_of_flag,
    updated_faults,
)
from engine.preflight.written_keys import WRITTEN_KEYS_CODES
from engine.spark.confs import confs_set, for_rows
from engine.spark.spark_errors import collected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FLAG_OF = {"UPDATES_CHANGE_NOTHING": SAME, "UPDATES_GO_BACK": BACK}


def silent_faults(spark: SparkSession, findings: Findings, checks: Checks, *, private: bool) -> tuple[Remark, ...]:
    """All that are found, the likeliest to hurt first. ``private`` leaves the keys out.

    A check that cannot be computed gives CHECK_FAILED: it is no reason to refuse a plan.
    """
    with confs_set(spark, for_rows(findings.source.num_rows)):
        found = [
            one
            for codes, check in _checks(spark, findings, checks, private)
            if any(checks.looks_for(code) for code in codes)
            for one in _tried(codes, check, private)
            if checks.looks_for(one.code)
        ]
    order = {code: at for at, code in enumerate(SILENT_FAULTS)}
    return tuple(
        one.model_copy(update={"severity": "error"}) if one.code in checks.errors else one
        for one in sorted(found, key=lambda one: order.get(one.code, len(order)))
    )


def _checks(
    spark: SparkSession, findings: Findings, checks: Checks, private: bool
) -> Iterator[tuple[tuple[str, ...], Callable[[], Iterable[Remark]]]]:
    """The codes that each check may give, and the check."""
    basis, source, matches = findings.basis, findings.source, findings.matches
    merge, rules, assigned = basis.merge, basis.target.rules, basis.target.assigned
    inserted = inserted_rows(merge, source, matches, assigned, private)
    if inserted is not None:
        files, rows = findings.scan.scan.before, inserted
        yield WRITTEN_KEYS_CODES, lambda: written_keys_faults(spark, rows, checks)
        yield ("KEY_EXISTS_OUTSIDE_ON",), lambda: keys_outside_on(spark, rows, files, source.bounds, checks)
    yield ("ON_WITHOUT_KEY",), lambda: on_without_key(spark, merge, source.num_rows)
    yield (
        ("UPDATES_CHANGE_NOTHING", "UPDATES_GO_BACK"),
        lambda: _with_keys(
            spark,
            findings,
            updated_faults(merge, rules, assigned, matches, checks, findings.promise.write.deletion_vectors),
            private,
        ),
    )
    yield ("SOURCE_EMPTY",), lambda: source_empty(source.num_rows)
    yield ("DELETES_BY_ABSENCE",), lambda: deletes_by_absence(findings.promise.metrics, matches, checks)
    yield ("KEYS_COLLIDE_BY_CAST",), lambda: keys_that_collide(spark, merge, source, private=private)


def _tried(codes: tuple[str, ...], check: Callable[[], Iterable[Remark]], private: bool) -> list[Remark]:
    try:
        return list(check())
    except EngineError as error:
        if error.condition in ENDS_ALL or lost_blocks(error):
            raise
        return [
            Remark(
                code="CHECK_FAILED",
                sentence=f"It is unknown whether this MERGE has {' or '.join(codes)}: the check itself failed.",
                # the message may hold a value
                evidence=f"[{error.condition}]" if private else f"[{error.condition}] {error.message}",
                exactness="unknown",
            )
        ]


def _with_keys(spark: SparkSession, findings: Findings, remarks: Iterable[Remark], private: bool) -> Iterator[Remark]:
    """Updates with some of the keys that their flag is set for."""
    found, merge = list(remarks), findings.basis.merge
    if private or not found:
        yield from found
        return
    rows = {one.code: rows_of_flag(findings.matches, FLAG_OF[one.code]) for one in found}
    query = keys_of_flagged(merge, findings.source, chain.from_iterable(rows.values()))
    names = key_columns_of_source(merge)
    keys = {row: dict(zip(names, key, strict=True)) for row, *key in (collected(spark, query) if query else [])}
    for one in found:
        own = [keys[row] for row in rows[one.code] if row in keys]
        yield one.model_copy(update={"keys": tuple(key for at, key in enumerate(own) if key not in own[:at])})


def source_empty(num_rows: int) -> Iterator[Remark]:
    if not num_rows:
        yield Remark(
            code="SOURCE_EMPTY",
            sentence="The source has no row.",
            evidence="An empty feed is often one that failed. With NOT MATCHED BY SOURCE every row counts as absent.",
            count=0,
            exactness="exact",
        )


def deletes_by_absence(metrics: dict[str, int], matches: Matches, checks: Checks) -> Iterator[Remark]:
    """Rows that NOT MATCHED BY SOURCE deletes, if they are more of the table than ``checks`` allow."""
    deleted, rows = metrics.get("numTargetRowsNotMatchedBySourceDeleted", 0), sum(file.rows for file in matches.files)
    if rows and deleted > checks.deletes_share * rows:
        yield Remark(
            code="DELETES_BY_ABSENCE",
            sentence=f"{deleted:,} of {count(rows, 'row')} ({percent(deleted / rows)}) {verb_of(deleted, 'are')} "
            f"deleted because the source lacks {'it' if deleted == 1 else 'them'}.",
            evidence=f"The limit is {percent(checks.deletes_share)} of the table (deletes_share). "
            "Is the source complete?",
            count=deleted,
            exactness="exact",
        )
