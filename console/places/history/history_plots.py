"""What the merges of the ledger wrote over time, drawn as text. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from console.widgets.page import Column, Page, Paragraph, Row, Table, sentence
from console.words import plan_summary
from console.words.format import count, local_time, number, size
from console.words.glyphs import Glyphs
from console.words.projection import rows_written
from console.words.visible import table_name

if TYPE_CHECKING:
    from engine.model.plans import OperationDetail

NEWEST = 48
"""Operations in one line of levels: what an 80 columns wide terminal has room for."""
BAR = 20
LABEL = 18
CHANGED = (plan_summary.INSERTED, plan_summary.UPDATED, plan_summary.DELETED)


@dataclass(frozen=True)
class Commit:
    """What one merge wrote. None if its metrics do not say; ``amplification``: rows written for each changed."""

    started: str
    table: str
    changed: int | None
    rows: int | None
    bytes: int | None
    deviations: int

    @property
    def amplification(self) -> float | None:
        return self.rows / self.changed if self.rows is not None and self.changed else None


def commit_of(detail: OperationDetail) -> Commit:
    one = detail.operation
    metrics = detail.outcome.metrics if detail.outcome is not None else {}
    deviations = len(detail.outcome.deviations) if detail.outcome is not None else 0
    return Commit(
        started=one.started_at,
        table=one.table,
        changed=_sum(metrics, CHANGED),
        rows=rows_written(metrics),
        bytes=metrics.get("numTargetBytesAdded"),
        deviations=deviations,
    )


def _sum(metrics: dict[str, int], names: Sequence[str]) -> int | None:
    known = [metrics[name] for name in names if name in metrics]
    return sum(known) if known else None


def plots_page(details: Sequence[OperationDetail], glyphs: Glyphs) -> Page:
    """``details``: committed merges, newest first."""
    commits = [commit_of(one) for one in details if one.operation.kind == "merge"]
    if not commits:
        return Page((sentence("None of these operations committed a merge.", "$foreground-muted"),))
    shown = commits[:NEWEST][::-1]
    deviating = sum(bool(one.deviations) for one in shown)
    series = (
        ("rows written", [one.rows for one in shown], _most([one.rows for one in shown], number)),
        ("bytes written", [one.bytes for one in shown], _most([one.bytes for one in shown], size)),
        ("amplification", [one.amplification for one in shown], _most([one.amplification for one in shown], times)),
        ("deviations", [one.deviations for one in shown], f"{deviating} of {len(shown)} broke their promise"),
    )
    what = f"The newest {count(len(shown), 'merge')} of those listed, from old to new. "
    head = [sentence(f"{what}Amplification: rows written for each row that changed.", "$foreground-muted")]
    head += [_line(name, levels(values, glyphs), text) for name, values, text in series]
    most = max((one.rows or 0 for one in commits), default=0)
    rows: list[Row] = [_row(one, most, glyphs) for one in commits]
    columns = [
        Column("started"),
        Column("table"),
        Column("changed", align="right"),
        Column("written", align="right"),
        Column("amplified", align="right", value=lambda at: commits[at].amplification),
        Column("bytes", align="right", value=lambda at: commits[at].bytes),
        Column("rows written", value=lambda at: commits[at].rows),
        Column("deviations", align="right"),
    ]
    return Page(tuple(head), Table(columns, rows))


def levels(values: Sequence[float | None], glyphs: Glyphs) -> str:
    """A sign for each value, from nothing to the most there is; ``?`` where it is not known."""
    most = max((value for value in values if value is not None), default=0)
    signs = glyphs.levels

    def sign(value: float | None) -> str:
        if value is None:
            return glyphs.unknown
        # any value above 0 is drawn above 0
        return signs[0] if not value or not most else signs[max(round(value / most * (len(signs) - 1)), 1)]

    return "".join(map(sign, values))


def _line(name: str, drawn: str, text: str) -> Paragraph:
    body = Content.assemble((drawn, "$text-primary"), f"  {text}")
    return Paragraph(body, Content.styled(name.ljust(LABEL), "$foreground-muted"))


def _most(values: Sequence[float | None], as_text: Callable[..., str]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "not known"
    return f"last {as_text(values[-1])}, most {as_text(max(known))}"


def times(value: float | None) -> str:
    return "?" if value is None else f"{value:,.1f}x"


def _row(one: Commit, most: int, glyphs: Glyphs) -> Row:
    length = max(round((one.rows or 0) * BAR / most), 1) if most and one.rows else 0
    return (
        local_time(one.started, seconds=False),
        table_name(one.table),
        number(one.changed),
        number(one.rows),
        times(one.amplification),
        size(one.bytes),
        glyphs.bar * length,
        str(one.deviations) if one.deviations else "",
    )
