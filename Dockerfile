# syntax=docker/dockerfile:1

FROM node:20-bookworm-slim AS dashboard
WORKDIR /build
COPY dashboard/package.json dashboard/package-lock.json ./
RUN --mount=type=cache,target=/root/.npm,sharing=locked npm ci --no-audit --no-fund
COPY dashboard .
RUN npm run build

FROM rust:1.95-bookworm AS builder
WORKDIR /build
COPY . .
# The program contains the dashboard.
COPY --from=dashboard /build/dist dashboard/dist
# The SQL is checked against .sqlx, so no database is needed. Compiled dependencies are kept in cache mounts. COPY keeps
# the times of files, so cargo could take an older build in the cache for a build of these sources; `touch` prevents that.
# A release passes its version with commit and date; `keymeter --version` says it.
ARG KEYMETER_VERSION
ENV SQLX_OFFLINE=true
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/usr/local/cargo/git,sharing=locked \
    --mount=type=cache,target=/build/target,sharing=locked \
    touch src/lib.rs crates/*/src/lib.rs crates/*/src/main.rs \
    && cargo build --profile dist --locked --bins \
        --package keymeter-cli --package keymeter-envoy \
    && install -D target/dist/keymeter /out/keymeter \
    && install -D target/dist/keymeter-envoy /out/keymeter-envoy

FROM debian:bookworm-slim AS runtime
# PostgreSQL's programs are for the private PostgreSQL. No version is pinned, because the newest certificates and the newest
# minor version are wanted.
# hadolint ignore=DL3008
RUN apt-get update \
    && mkdir -p /etc/postgresql-common/createcluster.d \
    && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/keymeter.conf \
    && apt-get install -y --no-install-recommends ca-certificates postgresql-15 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 keymeter \
    && useradd --uid 10001 --gid 10001 --no-log-init --no-create-home --home-dir /data --shell /usr/sbin/nologin keymeter \
    && install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=builder /out/keymeter /usr/local/bin/keymeter
# `docker run --entrypoint keymeter-envoy`: docs/envoy.md.
COPY --from=builder /out/keymeter-envoy /usr/local/bin/keymeter-envoy

# All persistent data are in /data: the private PostgreSQL (unless DATABASE_URL names another one) and the master key
# (unless KEYMETER_SECRETS__MASTER_KEY is set).
ENV HOME=/data \
    KEYMETER_DATA_DIR=/data \
    KEYMETER_SERVER__LISTEN=0.0.0.0:3000
# Not /data, which is closed: with a DATABASE_URL and a master key in the settings, any account may run it (`--user 12345`).
WORKDIR /
USER 10001:10001
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["keymeter", "health"]
ENTRYPOINT ["keymeter"]
CMD ["serve"]
