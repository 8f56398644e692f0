"""What Parquet's settings make of dates and times as they are written, in copied rows as well: a preview shows them as
they are before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.merge.find_touched_files import Matches
from engine.merge.plan_writes import Promise
from engine.model.plan import Refused, Remark
from engine.preflight.evolution_errors import ICEBERG_COMPAT, NOT_OF_ICEBERG
from engine.preflight.findings import Findings
from engine.preflight.target_reads import DescribedTarget
from engine.preflight.target_rules import TargetColumn
from engine.spark.confs import OUTPUT, OUTPUT_OF_V2, REBASE, REBASE_INT96, is_on
from engine.spark.spark_errors import SPARK_ERROR
from engine.sql.parse import MergeStatement
from engine.table.nested_types import types_in

INT96, MICROS, MILLIS = OUTPUTS = ("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS")
FORMAT = "delta.parquet.format.version"
KEEPS_AS_SET = (4, 2)
"""The first release of Spark that writes by the setting as it was set (ParquetUtils.prepareWrite): a property of the
table goes before that of the session, and small letters are no value."""
DAY, TIME = "date", "timestamp"


def output_type(properties: Mapping[str, str | None], confs: Mapping[str, str], version: str) -> str:
    """How a TIMESTAMP is written to a table with these ``properties``, by Spark of that ``version``: one of
    OUTPUTS, or what no writer knows."""
    if any(is_on(properties, ICEBERG_COMPAT.format(one), "false") for one in NOT_OF_ICEBERG):
        return MICROS
    if _numbers(properties.get(FORMAT) or "") >= (2, 12):
        return confs.get(OUTPUT_OF_V2, MICROS)
    if _numbers(version) < KEEPS_AS_SET:
        return confs.get(OUTPUT, INT96).upper()
    return properties.get(OUTPUT) or confs.get(OUTPUT, INT96)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def unknown_output(properties: Mapping[str, str | None], confs: Mapping[str, str], version: str) -> Refused | None:
    """ParquetWriteSupport.init: the writer of a file, whatever it is to hold, looks for a name in capitals."""
    output = output_type(properties, confs, version)
    if output in OUTPUTS:
        return None
    return Refused(
        condition=SPARK_ERROR,
        message=f"{OUTPUT} is {output!r}, by which Spark writes no file: it takes {', '.join(OUTPUTS)} alone, in "
        "capitals.",
        hint=f"Set it in capitals, or RESET {OUTPUT}.",
    )


def unwritten_times(
    statement: MergeStatement,
    matches: Matches,
    target: DescribedTarget,
    promise: Promise,
    confs: Mapping[str, str],
    version: str,
) -> Refused | None:
    """:func:`unknown_output`, where the MERGE opens a file: for no rows, too, unless the table is partitioned."""
    rows = promise.estimates["numTargetFilesAdded"] or not target.partition_columns
    opens = rows and (matches.touched or statement.not_matched)
    return unknown_output(target.properties, confs, version) if opens else None


def time_warnings(findings: Findings, version: str) -> Iterator[Remark]:
    """What is changed as it is written, and what may not be written at all."""
    target, confs = findings.basis.target, findings.basis.state.confs
    if findings.promise.estimates.get("numTargetFilesAdded") == 0:
        return
    output = output_type(target.properties, confs, version)
    # by which conf the calendar of a type is chosen
    rebased = {DAY: REBASE, TIME: REBASE_INT96 if output == INT96 else REBASE}
    columns = target.rules.columns
    cut = _in_files(c for c in columns if TIME in types_in(c.type))
    if cut and output == MILLIS:
        yield Remark(
            code="TIMESTAMPS_ARE_CUT",
            sentence=f"{OUTPUT} is {MILLIS}: what the MERGE writes loses its microseconds, in copied rows as "
            f"well. The preview shows them: {', '.join(cut)}.",
            evidence=f"RESET {OUTPUT} keeps them.",
        )
    for conf in dict.fromkeys(rebased.values()):
        kinds = {kind for kind, by in rebased.items() if by == conf}
        yield from _rebased(conf, confs.get(conf, "").upper(), [c for c in columns if kinds & types_in(c.type)])


def _in_files(columns: Iterable[TargetColumn]) -> list[str]:
    """The names of those that a read takes from the files: what names a partition it takes from the log."""
    return [column.name for column in columns if not column.partition]


def _rebased(conf: str, mode: str, columns: Sequence[TargetColumn]) -> Iterator[Remark]:
    """DataSourceUtils.createDateRebaseFuncInWrite and createTimestampRebaseFuncInWrite, of what stands in the files:
    Delta writes what names a partition there, too."""
    changed = _in_files(columns)
    if changed and mode == "LEGACY":
        yield Remark(
            code="OLD_DATES_CHANGE",
            sentence=f"{conf} is LEGACY: what the MERGE writes of days before 1582-10-15 is counted by the old "
            "calendar, in copied rows as well. Those of 5 to 14 October 1582 become the 15th, and readers other than "
            f"Spark may take all of them for other days: {', '.join(changed)}.",
            evidence=f"RESET {conf} keeps them.",
        )
    if columns and mode == "EXCEPTION":
        yield Remark(
            code="COMMIT_UNKNOWN",
            sentence=f"{conf} is EXCEPTION: Spark fails if it writes a date before 1582-10-15 or a timestamp before "
            f"1900, in copied rows as well: {', '.join(column.name for column in columns)}.",
            evidence=f"RESET {conf}.",
        )
