"""A real S3 server (SeaweedFS) on loopback."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

BUCKET = "quire-tests"
KEYS = {
    "AWS_ACCESS_KEY_ID": "test-key",
    "AWS_SECRET_ACCESS_KEY": "test-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}


class S3Server:
    """`weed mini` with a bucket; can be stopped and started again on the same ports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = _free_ports()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._ports[0]}"

    @property
    def settings(self) -> dict[str, str]:
        """The environment that leads boto3 here."""
        return {"AWS_ENDPOINT_URL": self.url, **KEYS}

    def start(self) -> None:
        binary = Path(sys.executable).with_name("weed")
        names = ("s3.port", "master.port", "volume.port", "filer.port", "admin.port")
        grpc = ("s3.port.grpc", "master.port.grpc", "volume.port.grpc", "filer.port.grpc")
        extra = ("admin.port.grpc", "s3.port.iceberg", "s3.port.lance", "metricsPort")
        flags = [
            f"-{name}={port}"
            for name, port in zip((*names, *grpc, *extra), self._ports, strict=True)
        ]
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "weed.log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(binary) if binary.exists() else shutil.which("weed") or "weed", "mini",
                 f"-dir={self._folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
                 "-webdav=false", *flags],
                env={**os.environ, **KEYS}, stdout=log, stderr=log, cwd=self._folder,
            )  # fmt: skip
        end = time.monotonic() + 60
        while time.monotonic() < end:
            client = self.client()
            with suppress(ClientError, BotoCoreError):  # after a restart it is there already
                client.create_bucket(Bucket=BUCKET)
            with suppress(ClientError, BotoCoreError):
                client.put_object(Bucket=BUCKET, Key="ready", Body=b"yes")
                return
            assert self._process.poll() is None, (self._folder / "weed.log").read_text()[-2000:]
            time.sleep(0.2)
        raise AssertionError("the S3 server did not start")

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def client(self) -> Any:
        """Plain boto3, as anyone would use it."""
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
        )

    def read(self, url: str) -> bytes:
        bucket, _, key = url.removeprefix("s3://").partition("/")
        return bytes(self.client().get_object(Bucket=bucket, Key=key)["Body"].read())


def _free_ports(count: int = 13) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
