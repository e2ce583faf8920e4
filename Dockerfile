# The worker. Two stages: the second has no compiler, no pip cache and no source tree.
FROM python:3.11-slim-bookworm AS build
ARG EXTRAS=otel
WORKDIR /src
COPY pyproject.toml constraints.txt README.md ./
COPY quire quire
COPY activities activities
COPY workflows workflows
RUN python -m venv /opt/quire \
    && /opt/quire/bin/pip install --no-cache-dir -c constraints.txt ".[${EXTRAS}]"

FROM python:3.11-slim-bookworm
COPY --from=build /opt/quire /opt/quire
# Documents and results live in the store. What is written here are copies of sources and scratch
# files, on a volume: in memory they would count against the container's limit.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin quire \
    && install -d -o 10001 /var/lib/quire /var/lib/quire/tmp
VOLUME /var/lib/quire
USER 10001
ENV PATH=/opt/quire/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    STATE_DIR=/var/lib/quire \
    TMPDIR=/var/lib/quire/tmp \
    LOG_FORMAT=json \
    METRICS_ADDRESS=0.0.0.0:9464 \
    HEALTH_ADDRESS=0.0.0.0:9465
EXPOSE 9464 9465
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9465/readyz', timeout=4)"]
ENTRYPOINT ["quire-worker"]
