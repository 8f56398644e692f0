"""Secrets are masked; ordinary SQL is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.secrets import MASK, is_secret_name, redact, redact_document

SECRET = "Zx81hunter2abcdef"


@pytest.mark.parametrize(
    "text",
    [
        f"sc://host:15002/;token={SECRET}",
        f"sc://host:15002/;use_ssl=true;token={SECRET};user_id=ann",
        f"cannot reach sc://host/;TOKEN={SECRET}: down",
        f"sc://host/;user_pass={SECRET}",
        f"https://ann:{SECRET}@host/path",
        f"jdbc:postgresql://ann:{SECRET}@db:5432/x",
        f"jdbc:postgresql://db/x?user=ann&password={SECRET}&ssl=true",
        f"abfss://c@a.dfs.core.windows.net/x?sv=1&sig={SECRET}",
        f"https://b.s3.amazonaws.com/k?X-Amz-Signature={SECRET}&X-Amz-Credential={SECRET}",
        f"spark.hadoop.fs.s3a.secret.key={SECRET}",
        f"SET spark.hadoop.fs.s3a.access.key = {SECRET};",
        f"fs.azure.account.key.acct.dfs.core.windows.net={SECRET}",
        f'"spark.hadoop.fs.gs.auth.service.account.private.key": "{SECRET}"',
        f"spark.connect.authenticate.token={SECRET}",
        f"SPARK_CONNECT_AUTHENTICATE_TOKEN={SECRET}",
        f"password={SECRET}",
        f"password = '{SECRET}'",
        f"Password: {SECRET}",
        f'{{"token": "{SECRET}", "pid": 1}}',
        f"{{'api_key': '{SECRET}'}}",
        f"AWS_SECRET_ACCESS_KEY={SECRET}",
        f"CREATE TEMPORARY VIEW v USING jdbc OPTIONS (url 'u', user 'ann', password '{SECRET}')",
        f"OPTIONS (`password` '{SECRET}')",
        f'OPTIONS ("dbtable" "x", "password" "{SECRET}")',
        f"read_files('x', password => '{SECRET}')",
        f"Authorization: Bearer {SECRET}",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "dapi" + "0123456789abcdef" * 2,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl",
    ],
)
def test_secrets_are_masked(text: str) -> None:
    masked = redact(text)
    assert MASK in masked
    assert SECRET not in masked
    assert "IOSFODNN" not in masked
    assert "a1B2a1B2" not in masked
    assert "0123456789abcdef" not in masked
    assert "eyJzdWIi" not in masked
    assert redact(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "MERGE INTO t USING s ON t.key = s.key WHEN MATCHED THEN UPDATE SET *",
        "MERGE INTO t USING s ON t.token = s.token WHEN MATCHED THEN UPDATE SET t.secret = s.secret",
        "UPDATE SET token = s.token, password_hash = s.password_hash, updated_at = current_timestamp()",
        "UPDATE SET token = upper(s.token)",
        "INSERT (key, token) VALUES (s.key, s.token)",
        "ON t.key=s.key AND t.account_key <=> s.account_key",
        "SELECT 'a' AS key, 'b' AS value",
        "SET spark.sql.shuffle.partitions=8",
        "file:/data/demo/orders/day=2026-11-20/part-00000.parquet",
        "sc://localhost:15002/;use_ssl=true;user_id=ann",
        "[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] key: 12",
        "2026-11-21T10:00:00Z",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.s3a.access.key",
        "fs.azure.account.key.acct.dfs.core.windows.net",
        "accessKey",
        "API_KEY",
        "token",
        "spark.ssl.keyPassword",
        "spark.hadoop.fs.azure.sas.container.acct",
        "credentials",
    ],
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "spark.sql.shuffle.partitions",
        "spark.databricks.delta.merge.materializeSource",
        "day",
        "monkey",
        "keyboard",
    ],
)
def test_names_of_no_secret(name: str) -> None:
    assert not is_secret_name(name)


def test_a_document_is_masked_by_the_names_of_its_confs() -> None:
    document = {
        "confs": {"spark.hadoop.fs.s3a.secret.key": SECRET, "spark.sql.ansi.enabled": "true"},
        "params": {"password": SECRET, "day": "2026-11-20"},
        "statement": {"setup": [f"SET spark.x.password={SECRET}"]},
        "target": {"version": 7},
        "find_touched_files": {"conflicts": {"keys": [{"key": {"order_key": "17"}}]}},
    }
    masked = redact_document(document)
    assert SECRET not in repr(masked)
    assert masked["confs"]["spark.sql.ansi.enabled"] == "true"
    assert masked["params"]["day"] == "2026-11-20"
    assert masked["target"] == {"version": 7}
    assert masked["find_touched_files"] == document["find_touched_files"]


@given(st.text())
def test_any_text_is_taken_and_masking_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-.", min_size=8))
def test_no_token_of_a_connect_url_survives(token: str) -> None:
    assert redact(f"sc://localhost:15002/;token={token};user_id=ann") == ("sc://localhost:15002/;token=***;user_id=ann")
