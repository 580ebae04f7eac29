# What there is to do with Keymeter; `make` alone lists it.

.DEFAULT_GOAL := help
.NOTPARALLEL:

WITH_POSTGRES := scripts/with-postgres.sh
SCRIPTS := scripts/*.sh .ci/run
# The program as the tests have it: `cargo build` would compile some forty crates again, with fewer features.
BUILD_AS_TESTED := cargo test --locked --no-run

# Further arguments: make run ARGS="--config my.toml", make test TEST_ARGS="s3_states", make bench BENCH_ARGS=…,
# make soak SOAK_ARGS="--minutes 60 --seed 7"
ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
VERSIONS ?= 14 15 16 17 18
SOAK_ARGS ?=

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: ## Start the service, with its dashboard where Node.js is (ARGS: further arguments of `keymeter serve`)
	@scripts/dashboard.sh build-if-able
	cargo run --release --locked -- serve $(ARGS)

.PHONY: demo
demo: ## Start the service with a demo in it: accounts, keys, two weeks of charges (kept nowhere)
	@scripts/dashboard.sh build-if-able
	rm -rf target/demo
	KEYMETER_DATA_DIR=target/demo cargo run --release --locked -- serve --demo $(ARGS)

.PHONY: dashboard
dashboard: ## Build the dashboard into dashboard/dist, with Node.js
	scripts/dashboard.sh build

.PHONY: test
test: test-service test-dashboard ## Run all tests, of the service and of the dashboard

.PHONY: test-service
test-service: ## Test the service beside a throwaway PostgreSQL (TEST_ARGS: arguments of `cargo test`)
	@echo "Testing the service beside a throwaway PostgreSQL (KEYMETER_TEST_DATABASE_URL names another one)."
	$(WITH_POSTGRES) cargo test --locked $(TEST_ARGS)

.PHONY: test-dashboard
test-dashboard: ## Test the dashboard: its logic, then the whole way in a real browser
	@echo "Testing the dashboard, with Node.js and Chromium."
	scripts/dashboard.sh test
	$(BUILD_AS_TESTED)
	$(WITH_POSTGRES) scripts/dashboard.sh browse

.PHONY: test-postgres-versions
test-postgres-versions: ## Test the service beside each supported PostgreSQL, from npm (VERSIONS, TEST_ARGS)
	@for version in $(VERSIONS); do \
		echo "Testing the service beside PostgreSQL $$version."; \
		bin=$$(scripts/postgres-version.sh "$$version") || exit 1; \
		PG_BIN=$$bin $(WITH_POSTGRES) cargo test --locked $(TEST_ARGS) || exit 1; \
	done

.PHONY: picture
picture: ## Take the pictures of the dashboard in docs/ anew, with Chromium
	$(BUILD_AS_TESTED)
	$(WITH_POSTGRES) scripts/dashboard.sh picture

.PHONY: check
check: check-format check-code check-docs check-scripts check-dashboard sqlx-check ## Everything a change must pass besides the tests

.PHONY: check-format
check-format: ## Is the code formatted?
	cargo fmt --all --check

.PHONY: check-code
check-code: ## Does clippy agree, with and without the embedded database?
	cargo clippy --all-targets --locked -- -D warnings
	cargo clippy --no-default-features --locked -- -D warnings

.PHONY: check-docs
check-docs: ## Does the documentation build without a warning?
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked --document-private-items

.PHONY: check-scripts
check-scripts: ## Does shellcheck agree with the scripts?
	@if command -v shellcheck >/dev/null; then \
		echo "shellcheck $(SCRIPTS)"; shellcheck $(SCRIPTS); \
	else \
		echo "shellcheck is not installed: the scripts were not checked"; \
	fi

.PHONY: check-dashboard
check-dashboard: ## Do types, format and lint of the dashboard agree?
	scripts/dashboard.sh check

.PHONY: sqlx
sqlx: ## Write .sqlx anew, after a change of SQL or of migrations
	scripts/sqlx-prepare.sh

.PHONY: sqlx-check
sqlx-check: ## Does .sqlx fit the code and the migrations?
	scripts/sqlx-prepare.sh --check

.PHONY: openapi
openapi: ## Write dashboard/openapi.json anew, after a change of the API
	cargo run --locked --quiet -- openapi > dashboard/openapi.json

.PHONY: bench
bench: ## Measure the service over HTTP, with a PostgreSQL that writes durably (BENCH_ARGS)
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) cargo bench --locked --bench http -- $(BENCH_ARGS)
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) cargo bench --locked --bench http -- --ledger $(BENCH_ARGS)

.PHONY: bench-growth
bench-growth: ## Measure how the service behaves as its tables grow (BENCH_ARGS)
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) cargo bench --locked --bench http -- --growth $(BENCH_ARGS)

.PHONY: soak
soak: ## Load three servers for ten minutes while faults are made, and check the ledger (SOAK_ARGS; docs/soak.md)
	$(WITH_POSTGRES) cargo bench --locked --bench soak -- $(SOAK_ARGS)

.PHONY: lint-ops
lint-ops: ## Check Dockerfile, compose.yaml and the workflow with the tools that are there
	@if command -v hadolint >/dev/null; then \
		echo "hadolint Dockerfile"; hadolint Dockerfile; \
	else \
		echo "hadolint is not installed: skipped Dockerfile"; \
	fi
	@if command -v actionlint >/dev/null; then \
		echo "actionlint"; actionlint; \
	else \
		echo "actionlint is not installed: skipped .github/workflows"; \
	fi
	@if docker compose version >/dev/null 2>&1; then \
		echo "docker compose config"; \
		KEYMETER_SECRETS__MASTER_KEY=x KEYMETER_ROOT__PASSWORD=x POSTGRES_PASSWORD=x \
			docker compose -f compose.yaml config --quiet; \
	else \
		echo "docker compose is not installed: skipped compose.yaml"; \
	fi

.PHONY: clean
clean: ## Remove what was built
	cargo clean
