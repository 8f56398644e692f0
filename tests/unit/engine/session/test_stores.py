from __future__ import annotations

from pathlib import Path

import pytest

from engine.model.errors import UsageError
from engine.session import stores
from engine.session.stores import STORES, fingerprint, store_named

SECRETS = {
    "AWS_ACCESS_KEY_ID": "the-key",
    "AWS_SECRET_ACCESS_KEY": "the-secret",
    "AWS_SESSION_TOKEN": "the-token",
    "AZURE_STORAGE_ACCOUNT": "acct",
    "AZURE_STORAGE_KEY": "the-secret",
}


def confs_of(name: str, **variables: str) -> dict[str, str]:
    confs = store_named(name, variables).confs
    assert all(key.startswith(("spark.hadoop.fs.", "spark.delta.logStore.")) for key in confs)
    return {key.removeprefix("spark.hadoop.fs."): value for key, value in confs.items()}


def test_no_store_adds_nothing() -> None:
    store = store_named("", SECRETS)
    assert (store.packages, store.jars, store.confs) == ((), (), {})


@pytest.mark.parametrize(("name", "connector"), zip(STORES, ("hadoop-aws", "hadoop-azure", "hadoop-gcp"), strict=True))
def test_the_connector_is_of_the_hadoop_that_spark_ships_and_no_secret_is_a_setting(name: str, connector: str) -> None:
    store = store_named(name, SECRETS)
    (package,) = store.packages
    assert package == f"org.apache.hadoop:{connector}:{stores.hadoop_version()}"
    assert "the-" not in str(store)


@pytest.mark.parametrize(
    ("variables", "endpoint", "path_style", "region"),
    [
        ({}, None, None, None),
        ({"AWS_REGION": "eu-west-1"}, None, None, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, None, None, "eu-west-1"),
        ({"AWS_ENDPOINT_URL": "http://10.0.0.1:9000"}, "http://10.0.0.1:9000", "true", "us-east-1"),
        ({"AWS_ENDPOINT_URL": "http://x:1", "AWS_ENDPOINT_URL_S3": "https://y"}, "https://y", "true", "us-east-1"),
        ({"AWS_ENDPOINT_URL_S3": "https://y", "AWS_REGION": "here"}, "https://y", "true", "here"),
        (
            {"AWS_ENDPOINT_URL_S3": "https://s3.eu-west-1.amazonaws.com"},
            "https://s3.eu-west-1.amazonaws.com",
            None,
            None,
        ),
        ({"AWS_ENDPOINT_URL_S3": "https://amazonaws.com.evil"}, "https://amazonaws.com.evil", "true", "us-east-1"),
    ],
)
def test_endpoint_and_region_of_s3(
    variables: dict[str, str], endpoint: str | None, path_style: str | None, region: str | None
) -> None:
    confs = confs_of("s3", **variables)
    assert confs.get("s3a.endpoint") == endpoint
    assert confs.get("s3a.path.style.access") == path_style
    assert confs.get("s3a.endpoint.region") == region


@pytest.mark.parametrize(
    ("endpoint", "code"),
    [
        ("127.0.0.1:9000", "BAD_STORE"),
        ("s3://bucket", "BAD_STORE"),
        ("http://[", "BAD_STORE"),
        ("http://key:the-secret@host:9000", "CREDENTIALS_IN_URL"),
    ],
)
def test_an_endpoint_that_cannot_be_used(endpoint: str, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        store_named("s3", {"AWS_ENDPOINT_URL_S3": endpoint})
    assert caught.value.condition == code
    assert "the-secret" not in str(caught.value) + caught.value.hint


def test_a_store_that_there_is_not() -> None:
    with pytest.raises(UsageError) as caught:
        store_named("ftp", {})
    assert caught.value.condition == "BAD_STORE"


def test_credentials_of_azure_by_key_principal_or_machine() -> None:
    key = confs_of("abfs", AZURE_STORAGE_ACCOUNT="acct", AZURE_STORAGE_KEY="the-secret")
    assert key["azure.account.key.acct.dfs.core.windows.net"] == "${env.AZURE_STORAGE_KEY}"
    principal = confs_of("abfs", AZURE_TENANT_ID="t", AZURE_CLIENT_ID="c", AZURE_CLIENT_SECRET="the-secret")
    assert principal["azure.account.oauth2.client.secret"] == "${env.AZURE_CLIENT_SECRET}"
    assert principal["azure.account.oauth2.client.endpoint"].endswith("/t/oauth2/token")
    assert confs_of("abfs")["azure.account.oauth.provider.type"].endswith("MsiTokenProvider")


def test_google_reads_a_key_file_if_one_is_named() -> None:
    assert "gs.auth.type" not in confs_of("gcs")
    assert (
        confs_of("gcs", GOOGLE_APPLICATION_CREDENTIALS="/k.json")["gs.auth.service.account.json.keyfile"] == "/k.json"
    )


def test_the_log_store_is_set_if_its_jar_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jar = tmp_path / "log-store.jar"
    monkeypatch.setattr(stores, "LOG_STORE_JAR", jar)
    assert store_named("s3", {}).jars == ()
    assert "spark.delta.logStore.s3a.impl" not in store_named("s3", {}).confs
    jar.touch()
    store = store_named("s3", {})
    assert store.jars == (jar,)
    assert store.confs["spark.delta.logStore.s3a.impl"] == stores.LOG_STORE
    assert store_named("gcs", {}).jars == ()


@pytest.mark.parametrize(
    ("hadoop", "is_used"),
    [("3.4.1", False), ("3.4.2", True), ("3.5.0", True), ("3.4.2-amzn-0", True), ("3.10.0", True)],
)
def test_the_log_store_is_used_where_hadoop_can_create_on_a_condition(
    monkeypatch: pytest.MonkeyPatch, hadoop: str, is_used: bool
) -> None:
    monkeypatch.setattr(stores, "hadoop_version", lambda: hadoop)
    store = store_named("s3", {})
    assert bool(store.jars) == is_used
    assert ("spark.delta.logStore.s3a.impl" in store.confs) == is_used


def test_a_fingerprint_tells_a_change_and_no_secret() -> None:
    before = fingerprint("s3", "key", SECRETS)
    assert before == fingerprint("s3", "key", {**SECRETS, "OTHER": "x", "AZURE_STORAGE_KEY": "y"})
    assert before != fingerprint("s3", "key", {**SECRETS, "AWS_SESSION_TOKEN": "the next"})
    assert before != fingerprint("s3", "another key", SECRETS)
    assert "the-" not in before
