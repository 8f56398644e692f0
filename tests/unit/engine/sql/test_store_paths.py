from __future__ import annotations

import pytest

from engine.model.errors import UsageError
from engine.sql.parse import parse_script
from engine.sql.store_paths import refuse_credentials
from engine.table.tables import table_sql


@pytest.mark.parametrize(
    "path",
    [
        "s3a://AKIA:the-secret@b/t",
        "s3://AKIA:the/secret@b/t",
        "S3A://AKIA:the-secret@b",
        "gs://k:the-secret@b/t",
        "s3a://AKIAKEY@b/t",
    ],
)
def test_credentials_in_a_path_are_refused_and_not_repeated(path: str) -> None:
    calls = (refuse_credentials, table_sql, lambda text: parse_script(f"MERGE INTO delta.`{text}` USING s ON true"))
    for call in calls:
        with pytest.raises(UsageError) as caught:
            call(path)
        assert caught.value.condition == "CREDENTIALS_IN_URL"
        assert "secret@" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "path",
    ["s3a://bucket/a:b@c", "s3a://b.with.dots/t", "abfss://box@acct.dfs.core.windows.net/t", "a:b@c", "s3a://b/x y:z"],
)
def test_other_paths_are_not(path: str) -> None:
    refuse_credentials(path)
