"""A plan beside the one before it: what planning again, or an edit of the text, has changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from console.widgets.page import Column, Full, Page, Row, Table, sentence
from console.words import expectation_sentences, plan_summary
from console.words.create_sentences import facts, in_a_line, in_words
from console.words.format import local_clock, number, short_id, size
from console.words.glyphs import Glyphs
from console.words.schema_changes import evolution
from console.words.visible import visible
from engine.model.counted import part_and_verb

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan
    from engine.model.expectation import ExpectationResult
    from engine.model.plan import Plan
    from engine.model.plans import AnyPlan

TABLE, COLUMNS, FINGERPRINT = "table id", "source columns used", "source fingerprint"


def before_page(before: AnyPlan, plan: AnyPlan, glyphs: Glyphs) -> Page:
    """What differs comes first; what stayed is listed below it."""
    pairs = [(name, *values) for name, values in _facts(before, plan).items()]
    pairs.sort(key=lambda pair: pair[1] == pair[2])
    rows: list[Row] = [
        (f"{glyphs.changed} changed" if old != new else "same", visible(name), *_in_cells(old, new))
        for name, old, new in pairs
    ]
    changed = sum(old != new for _, old, new in pairs)
    was = f"plan {short_id(before.plan_id)} of {local_clock(before.created_at)}"
    differing = part_and_verb(changed, len(pairs), "fact", "differ")
    headline = f"{differing} from {was}." if changed else f"Nothing differs from {was}."
    columns = [Column("", name="change"), Column("fact"), Column("before", fit="end"), Column("now", fit="end")]
    table = Table(columns, rows, full=lambda at: Full(f"Beside {was}", [pairs[at]], texts=True))
    return Page((sentence(headline, "bold"), sentence("Enter shows a row in full.", "$foreground-muted")), table)


def _in_cells(old: str, new: str) -> tuple[str, str]:
    """Both on one line; of texts of several lines the first that differs."""
    if "\n" not in old + new:
        return visible(old), visible(new)
    if old == new:
        return plan_summary.one_line(old), plan_summary.one_line(new)
    pairs = list(zip_longest(old.split("\n"), new.split("\n")))
    at = next(at for at, (before, after) in enumerate(pairs) if before != after)
    before, after = (f"no line {at + 1}" if one is None else f"line {at + 1}: {visible(one)}" for one in pairs[at])
    return before, after


def _facts(before: AnyPlan, plan: AnyPlan) -> dict[str, tuple[str, str]]:
    """Each fact as it was and as it is."""
    old, new = (_of_create(one) if one.kind == "create_table" else _of_merge(one) for one in (before, plan))
    found = {name: (old.get(name) or "-", new.get(name) or "-") for name in dict.fromkeys((*old, *new))}
    if COLUMNS in found:
        # a fingerprint is of the columns used: beside one of others it says nothing
        was, is_now = found[COLUMNS]
        del found[COLUMNS if was == is_now else FINGERPRINT]
    return found


def _of_merge(one: Plan) -> dict[str, str]:
    files, verb = plan_summary.rewritten_files(one), plan_summary.done_to_files(one)
    return {
        TABLE: one.target.table_id,
        "target version": str(one.target.version),
        "source rows": number(one.source.num_rows),
        COLUMNS: ", ".join(one.source.columns_used),
        FINGERPRINT: one.source.fingerprint,
        "source": "kept in a table"
        if one.session.staged
        else "materialized"
        if one.decision.materialize
        else "read as it is",
        "reason": one.decision.reason,
        f"files {verb}": number(len(files)),
        f"bytes of files {verb}": size(sum(file.bytes for file in files)),
        "files after skipping": number(one.scan.files_after),
        **({"schema": evolves} if (evolves := evolution(one, None)) else {}),
        "conflicting rows": number(one.find_touched_files.conflicts.true_count),
        "expectations": _expectations(one.expectations),
        **_of_any(one),
    }


def _expectations(results: Sequence[ExpectationResult]) -> str:
    """Why those do not hold that do not, else that they do."""
    why = "; ".join(expectation_sentences.sentence(one) for one in results if one.status != "pass")
    return why or (expectation_sentences.summary(results) if results else "none")


def _of_create(one: CreatePlan) -> dict[str, str]:
    return {
        TABLE: one.target.table_id or "none yet",
        "target version": str(one.target.version) if one.target.version >= 0 else "none yet",
        "effect": one.effect,
        "because": one.because,
        "columns": "; ".join(in_a_line(in_words(each)) for each in one.after.columns) if one.after else "",
        "files that leave": number(one.files_removed if one.refused is None else 0),
        **(facts(one.after) if one.after else {}),
        **_of_any(one),
    }


def _of_any(one: AnyPlan) -> dict[str, str]:
    return {
        "can be committed": "yes" if plan_summary.why_not_committable(one) is None else "no",
        "warning codes": ", ".join(remark.code for remark in one.warnings) or "none",
        **{name: number(value) for name, value in plan_summary.promise(one).items()},
        **{f":{name}": value for name, value in one.statement.params.items()},
        "text": one.statement.script,
    }
