"""Requests to an S3 store by its own protocol, signed (AWS Signature Version 4), by the standard library alone."""

from __future__ import annotations

import hashlib
import hmac
import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from urllib.parse import quote, urlencode, urlsplit

REGION = "us-east-1"


@dataclass(frozen=True)
class Store:
    """An S3 store at ``endpoint`` (``http://host:port``) and the key that it knows."""

    endpoint: str
    key: str
    secret: str

    def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """The status and body of the answer; ``path`` is ``/bucket/key``."""
        place = urlsplit(self.endpoint)
        target = quote(path)
        search = urlencode(sorted((query or {}).items()), quote_via=quote)
        signed = self._signed(method, target, search, body, place.netloc, headers or {})
        connection = http.client.HTTPConnection(place.netloc, timeout=30)
        try:
            connection.request(method, f"{target}?{search}" if search else target, body, signed)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _signed(
        self, method: str, target: str, search: str, body: bytes, host: str, extra: Mapping[str, str]
    ) -> dict[str, str]:
        now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now, **extra}
        names = ";".join(sorted(name.lower() for name in headers))
        lines = "".join(f"{name.lower()}:{value}\n" for name, value in sorted(headers.items(), key=_lower))
        request = "\n".join((method, target, search, lines, names, digest))
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        text = "\n".join(("AWS4-HMAC-SHA256", now, scope, hashlib.sha256(request.encode()).hexdigest()))
        key = f"AWS4{self.secret}".encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.key}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
        return headers


def _lower(item: tuple[str, str]) -> str:
    return item[0].lower()
