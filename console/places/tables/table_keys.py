"""The keys of the Tables place, in the order in which a narrow key line gives them room."""

from __future__ import annotations

from textual.binding import Binding, BindingType

VIEWS_GROUP = Binding.Group("views", compact=True)

KEYS: list[BindingType] = [
    # the same key, and so the same id: in a field every plain key is typed, so the way out is named first
    Binding("escape", "leave_field", "to the result", id="tables.back",
            tooltip="From the predicate to the files that it leaves"),
    Binding("escape", "back", "to the list", id="tables.back", tooltip="Back to the list of tables"),
    Binding("plus", "more", "more rows", id="tables.more", tooltip="Fetch ten times as many rows, up to 10,000"),
    Binding("s", "sample", "sample", id="tables.sample",
            tooltip="Rows by chance out of the whole table in place of the first ones, or the first ones again"),
    Binding("e", "explore", "explore", id="tables.explore",
            tooltip="Explore which files a predicate leaves of this table, and why each is kept or skipped"),
    Binding("slash", "filter", "filter", id="tables.filter", tooltip="Filter the tables by name"),
    Binding("m", "merge", "merge into", id="tables.merge", tooltip="Start a merge into this table"),
    Binding("n", "create_like", "new like it", id="tables.like",
            tooltip="Create a table like this one: its columns, layout and properties in the form"),
    Binding("c", "clone", "clone", id="tables.clone",
            tooltip="Clone this table to rehearse on: a SHALLOW CLONE of its version, in the Create place"),
    Binding("left_square_bracket", "cycle(-1)", "view before", id="tables.view_before", group=VIEWS_GROUP,
            tooltip="The view before this one"),
    Binding("right_square_bracket", "cycle(1)", "next view", id="tables.view_next", group=VIEWS_GROUP,
            tooltip="The next view"),
    Binding("o", "open_directory", "open directory", id="tables.directory",
            tooltip="Open a directory and list the Delta tables in it"),
    Binding("r", "reload", "refresh", id="tables.refresh",
            tooltip="Ask Spark again; the rows are those of now"),
    Binding("x", "export", "export", id="tables.export",
            tooltip="Write the rows that are shown to a CSV, JSON or Parquet file"),
    Binding("f", "favourite", "favourite", show=False, id="tables.favourite",
            tooltip="Make this table a favourite, or no longer; favourites are listed first"),
    Binding("y", "copy_name", "copy name", id="tables.copy", tooltip="Copy the name of the table"),
]  # fmt: skip
