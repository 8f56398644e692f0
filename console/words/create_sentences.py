"""A CREATE or REPLACE TABLE plan in sentences: as plain text, for the console and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from console.words.column_sentences import counted, value_of
from console.words.format import count, number, short_id, size
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan, StateColumn, TableState

DOES = {
    "create": "creates the table",
    "adopt": "takes the table that is there",
    "replace": "replaces the table",
    "nothing": "changes nothing",
    "refused": "cannot run",
}


def headline(plan: CreatePlan) -> str:
    """``CREATE OR REPLACE TABLE db.t @ v3``."""
    modes = {"Create": "CREATE TABLE", "CreateOrReplace": "CREATE OR REPLACE TABLE", "Replace": "REPLACE TABLE"}
    forms = {"empty": "", "as_select": " AS SELECT", "like": " LIKE", "clone": " SHALLOW CLONE"}
    version = f" @ v{plan.target.version}" if plan.target.version >= 0 else ""
    return f"{modes[plan.statement.mode]} {table_name(plan.target.name)}{version}{forms[plan.statement.form]}"


def committing(plan: CreatePlan) -> str:
    """The word for it in the history."""
    return f"history will say {plan.operation}" if plan.operation else "nothing is committed"


def rows_written(plan: CreatePlan) -> str:
    """``writes 40 rows in 2 partitions``, or "" if no query is written."""
    source = plan.source
    if source is None or source.num_rows is None or plan.refused is not None:
        return ""
    partitions = f" in {count(source.num_partitions, 'partition')}" if source.num_partitions is not None else ""
    return f"writes {count(source.num_rows, 'row')}{partitions}"


def summary(plan: CreatePlan) -> str:
    """What a plan would do, in one line."""
    if plan.refused is not None:
        return f"refused, {visible(plan.refused.condition)}"
    return f"{DOES[plan.effect]}; {committing(plan)}"


def leaving(plan: CreatePlan) -> str:
    """``40 files (934 MB) leave the table``: no data is deleted by the commit itself."""
    if plan.refused is not None:
        return ""
    if not plan.files_removed:
        return "no file leaves the table" if plan.before is not None else ""
    leave, them, own = ("leaves", "it", "it is") if plan.files_removed == 1 else ("leave", "them", "they are")
    files = f"{count(plan.files_removed, 'file')} ({size(plan.bytes_removed)})"
    # those of a table that it is a shallow clone of stay
    return f"{files} {leave} the table; a later VACUUM deletes {them} if {own} its own"


def as_text(plan: CreatePlan, becomes: str) -> str:
    """The plan for the clipboard."""
    lines = [headline(plan), f"plan {short_id(plan.plan_id)}: {summary(plan)}"]
    lines += [visible(plan.because)] if plan.refused is None else []
    lines += [line for line in (rows_written(plan), leaving(plan)) if line]
    if plan.refused is not None:
        lines.append(f"[{visible(plan.refused.condition)}] {visible(plan.refused.message)}")
    if plan.after is not None:
        lines += ["", *(f"{name}: {visible(text)}" for name, text in changes(plan, becomes).items() if text)]
        for one in columns(plan, becomes):
            lines.append(", ".join(filter(None, (f"column {in_a_line(one)}", one.change))))
    lines += [f"warning [{visible(one.code)}] {visible(one.sentence)}" for one in plan.warnings]
    return "\n".join([*lines, "", plan.statement.script])


class ColumnWords(NamedTuple):
    """A column in words. ``change`` is what the plan makes of it: new, changed, goes, or ""; the parts of one that is
    changed read ``before → after``."""

    change: str
    name: str
    type: str
    marks: str
    comment: str


def columns(plan: CreatePlan, becomes: str) -> list[ColumnWords]:
    """The columns that the plan leaves, then those that go. [] if the plan leaves no table."""
    if plan.after is None:
        return []
    if plan.before is None:
        return [in_words(column) for column in plan.after.columns]
    before = {column.name: column for column in plan.before.columns}
    found = []
    for column in plan.after.columns:
        was, now = before.pop(column.name, None), in_words(column)
        if was is None:
            now = now._replace(change="new")
        elif was != column:
            parts = (_beside(old, new, becomes) for old, new in zip(in_words(was)[2:], now[2:], strict=True))
            now = ColumnWords("changed", now.name, *parts)
        found.append(now)
    return [*found, *(in_words(column)._replace(change="goes") for column in before.values())]


def in_words(column: StateColumn) -> ColumnWords:
    return ColumnWords("", visible(column.name), visible(column.type), marks(column), visible(column.comment))


def in_a_line(column: ColumnWords) -> str:
    """``id bigint, not null, comment the key``."""
    comment = f"comment {column.comment}" if column.comment else ""
    return ", ".join(filter(None, (f"{column.name} {column.type}", column.marks, comment)))


def marks(column: StateColumn) -> str:
    """``not null, default 0``: what there is beside name, type and comment."""
    # the plan of an older version does not say how it counts
    identity = counted(column.counted) if column.counted else "identity" if column.identity else ""
    value = value_of(identity, column.generated_as, column.default)
    return ", ".join(filter(None, ("" if column.nullable else "not null", value)))


def _beside(before: str, after: str, becomes: str) -> str:
    return after if before == after else f"{before or '-'} {becomes} {after or '-'}"


def changes(plan: CreatePlan, becomes: str) -> dict[str, str]:
    """Name → ``before → after``, or the one value if it stays. {} if the plan leaves no table."""
    if plan.after is None:
        return {}
    after = facts(plan.after)
    before = facts(plan.before) if plan.before else after
    return {name: _beside(before[name], after[name], becomes) for name in after}


def facts(state: TableState) -> dict[str, str]:
    """The parts of a table beside its columns, all properties in one."""
    pairs = properties(state)
    files = "?" if state.num_files is None else f"{number(state.num_files)}, {size(state.num_bytes)}"
    return {
        "location": state.location,
        "partitioned by": ", ".join(state.partition_columns),
        "clustered by": ", ".join(state.clustering_columns),
        "properties": ", ".join(f"{key}={value}" for key, value in pairs.items()),
        "protocol": f"reader {state.min_reader_version}, writer {state.min_writer_version}",
        "features": ", ".join(state.features),
        "comment": state.comment,
        "files": files,
    }


def properties(state: TableState) -> dict[str, str]:
    return {key: "(known at the commit)" if value is None else value for key, value in state.properties.items()}
