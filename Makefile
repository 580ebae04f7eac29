# All tasks; `make` alone lists them.

.DEFAULT_GOAL := help
.NOTPARALLEL:

WITH_POSTGRES := scripts/with-postgres.sh
SCRIPTS := scripts/*.sh examples/*.sh examples/*/*.sh .ci/run
# The program as the tests build it. `cargo build` unifies features differently and would compile about 40 crates again.
BUILD_AS_TESTED := cargo test --workspace --locked --no-run --test it

# Additional arguments: make run ARGS="--config my.toml", make test TEST_ARGS="s3_states", make bench BENCH_ARGS=…,
# make soak SOAK_ARGS="--minutes 60 --seed 7", make mutants MUTANTS_ARGS="--file src/domain/money.rs"
ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
VERSIONS ?= 14 15 16 17 18
SOAK_ARGS ?=
MUTANTS_ARGS ?=

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: ## Start the service; builds the dashboard if Node.js is installed (ARGS: arguments of `keymeter serve`)
	@scripts/setup.sh run
	@scripts/dashboard.sh build-if-able
	. ./target/setup.env && cargo run --release --locked -- serve $(ARGS)

.PHONY: demo
demo: ## Start the service with example data: accounts, keys, three months of charges (rm -rf target/demo: new data)
	@scripts/setup.sh run
	@scripts/dashboard.sh build-if-able
	@# Without this file the last start did not complete the data.
	@[ -e target/demo/demo-password ] || rm -rf target/demo
	. ./target/setup.env && KEYMETER_DATA_DIR=target/demo cargo run --release --locked -- serve --demo $(ARGS)

.PHONY: dev
dev: ## Develop: the server in debug with example data, and the dashboard with hot reload against it (ARGS)
	@scripts/setup.sh run
	@scripts/dev.sh $(ARGS)

.PHONY: dashboard
dashboard: ## Build the dashboard into dashboard/dist (needs Node.js)
	scripts/dashboard.sh build

.PHONY: test
test: set-up-tests test-service test-document test-dashboard ## Test the service, its OpenAPI document and the dashboard

.PHONY: test-all
test-all: set-up-tests test-service test-otlp test-document-all test-clients test-dashboard-all ## The same, with every caller and every screen (docs/testing.md)

.PHONY: set-up-tests
set-up-tests:
	@scripts/setup.sh test

.PHONY: test-service
test-service: ## Test the service on a throwaway PostgreSQL (TEST_ARGS: arguments of `cargo test`; KEYMETER_TEST_WITHOUT)
	@echo "Testing the service on a throwaway PostgreSQL (set KEYMETER_TEST_DATABASE_URL to use your own)."
	$(WITH_POSTGRES) scripts/test-service.sh $(TEST_ARGS)

# The two that may call most operations; test-document-all is every kind of caller.
test-document: export CALLERS ?= user,administrator

.PHONY: test-document test-document-all
test-document: ## Send the running service what its OpenAPI document allows and forbids (SEED, CALLERS; needs Python)
test-document-all: ## The same as every kind of caller
test-document test-document-all:
	@echo "Testing the OpenAPI document with Schemathesis."
	$(BUILD_AS_TESTED)
	$(WITH_POSTGRES) scripts/schemathesis.sh

.PHONY: test-dashboard test-dashboard-all
test-dashboard: browse := browse
test-dashboard-all: browse := browse-all
test-dashboard: ## Test the dashboard: its logic, then in real browsers
test-dashboard-all: ## The same with every page and dialog on every screen
test-dashboard test-dashboard-all:
	@echo "Testing the dashboard, with Node.js, Chromium and Firefox."
	scripts/dashboard.sh test
	$(BUILD_AS_TESTED)
	$(WITH_POSTGRES) scripts/dashboard.sh $(browse)

.PHONY: test-clients
test-clients: ## Check and test the clients against the real program (needs Python, Node.js; TEST_ARGS="typescript …", KEYMETER_PROGRAM)
	@[ -n "$(KEYMETER_PROGRAM)" ] || $(BUILD_AS_TESTED)
	scripts/clients.sh $(TEST_ARGS)

.PHONY: test-gateways
test-gateways: ## Test the LiteLLM plug-in and the metering front in the real programs (needs Python, npm; 6 minutes or more; TEST_ARGS, ONLY)
	@[ -n "$(KEYMETER_PROGRAM)" ] || $(BUILD_AS_TESTED)
	scripts/gateways.sh $(TEST_ARGS)

.PHONY: test-failover
test-failover: ## Break three PostgreSQL under Patroni while three servers are under load (docs/scaling.md; 15 minutes; TEST_ARGS)
	@[ -n "$(KEYMETER_PROGRAM)" ] || $(BUILD_AS_TESTED)
	scripts/failover.sh $(TEST_ARGS)

.PHONY: test-upgrade
test-upgrade: ## Upgrade three servers under load, one after the other, from the commit in tests/upgrade/OLDER (2 minutes and its build; TEST_ARGS, KEYMETER_OLDER_PROGRAM)
	@[ -n "$(KEYMETER_PROGRAM)" ] || $(BUILD_AS_TESTED)
	scripts/upgrade.sh $(TEST_ARGS)

.PHONY: test-board
test-board: ## Run every expression of the board and the alerts in a Prometheus that scrapes a server (needs prometheus)
	@[ -n "$(KEYMETER_PROGRAM)" ] || $(BUILD_AS_TESTED)
	scripts/ops.sh board

.PHONY: test-postgres-versions
test-postgres-versions: ## Test the service on each supported PostgreSQL, installed from npm (VERSIONS, TEST_ARGS)
	@for version in $(VERSIONS); do \
		echo "Testing the service on PostgreSQL $$version."; \
		bin=$$(scripts/postgres-version.sh "$$version") || exit 1; \
		PG_BIN=$$bin $(WITH_POSTGRES) cargo test --workspace --locked $(TEST_ARGS) || exit 1; \
	done

.PHONY: test-otlp
test-otlp: ## Test the spans that are sent to an OpenTelemetry collector; builds the feature `otlp`
	$(WITH_POSTGRES) cargo test --locked --features otlp --test otlp

.PHONY: mutants
mutants: ## Change src/domain in one place at a time; its unit tests must notice (MUTANTS_ARGS; docs/testing.md)
	scripts/mutants.sh $(MUTANTS_ARGS)

.PHONY: picture
picture: ## Take the screenshots of the dashboard in docs/ again (needs Chromium)
	$(BUILD_AS_TESTED)
	$(WITH_POSTGRES) scripts/dashboard.sh picture

.PHONY: check
check: check-format check-code check-docs check-scripts check-dependencies check-dashboard check-ops ## Run all checks but the tests

.PHONY: check-ops
check-ops: ## Test the alerts, and validate the manifests (needs promtool, Python)
	scripts/ops.sh check

.PHONY: check-format
check-format: ## Check the format of the code
	cargo fmt --all --check

.PHONY: check-code
check-code: ## Run clippy, and check that .sqlx matches the code and the migrations
	scripts/sqlx-prepare.sh --check

.PHONY: check-docs
check-docs: ## Build the code's documentation; warnings are errors
	@# The features of clippy, so that it has checked the crates already.
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features otlp --locked --document-private-items

.PHONY: check-scripts
check-scripts: ## Run shellcheck on the scripts
	@if command -v shellcheck >/dev/null; then \
		echo "shellcheck $(SCRIPTS)"; shellcheck $(SCRIPTS); \
	else \
		echo "shellcheck is not installed: the scripts were not checked"; \
	fi

.PHONY: check-dependencies
check-dependencies: ## Check licences and sources of all dependencies (deny.toml)
	scripts/deny.sh

.PHONY: check-advisories
check-advisories: ## Check all dependencies for known vulnerabilities (needs the network)
	scripts/deny.sh advisories

.PHONY: check-dashboard
check-dashboard: ## Check types, format and lints of the dashboard
	scripts/dashboard.sh check

.PHONY: sqlx
sqlx: ## Update .sqlx after a change of SQL or migrations
	scripts/sqlx-prepare.sh

.PHONY: openapi
openapi: ## Update dashboard/openapi.json after a change of the API
	cargo run --locked --quiet -- openapi > dashboard/openapi.json

.PHONY: errors
errors: ## Write docs/errors.md, after a change of the error codes
	KEYMETER_WRITE=1 cargo test --locked --quiet --test it -- error_codes::the_page

.PHONY: bench
bench: ## Measure the service over HTTP on a PostgreSQL with fsync on (BENCH_ARGS; docs/performance.md)
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) cargo bench --locked --bench http -- $(BENCH_ARGS)
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) cargo bench --locked --bench http -- --ledger $(BENCH_ARGS)

.PHONY: bench-doors
bench-doors: ## Measure what metering costs the front and Envoy, beside nginx and Envoy without it (needs nginx; BENCH_ARGS)
	scripts/proxies.sh
	cargo build --release --locked --workspace --bins
	$(WITH_POSTGRES) scripts/bench-doors.py $(BENCH_ARGS)

.PHONY: bench-compare
bench-compare: ## Measure two programs in pairs (BENCH_ARGS="--compare old=PROGRAM --compare new=PROGRAM --only charge")
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) cargo bench --locked --bench http -- $(BENCH_ARGS)

.PHONY: bench-growth
bench-growth: ## Measure the service on small and on large tables (BENCH_ARGS)
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) cargo bench --locked --bench http -- --growth $(BENCH_ARGS)

.PHONY: bench-dashboard
bench-dashboard: ## Measure how soon the dashboard is usable on a slow processor and network (needs Chromium)
	$(BUILD_AS_TESTED)
	$(WITH_POSTGRES) scripts/dashboard.sh speed

.PHONY: bench-import
bench-import: ## Measure the import of 1,000,000 keys, and what imported keys cost (BENCH_ARGS; needs Python)
	cargo build --release --locked --no-default-features
	KEYMETER_TEST_FSYNC=on $(WITH_POSTGRES) scripts/bench-import.py $(BENCH_ARGS)

.PHONY: soak
soak: ## Load three servers for ten minutes while causing faults, then check the ledger (SOAK_ARGS; docs/soak.md)
	$(WITH_POSTGRES) cargo bench --locked --bench soak -- $(SOAK_ARGS)

.PHONY: lint-ops
lint-ops: ## Check Dockerfile, compose.yaml and the workflow with the tools that are installed
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

.PHONY: release
release: ## Build the files of a release for this platform (scripts/release.sh)
	scripts/release.sh

.PHONY: test-image
test-image: ## Run the steps of the Dockerfile in an unpacked Debian, and test the result (needs root and debootstrap)
	@scripts/setup.sh run
	scripts/dashboard.sh build
	SQLX_OFFLINE=true cargo build --profile dist --locked --bin keymeter
	scripts/test-image.py target/dist/keymeter

.PHONY: clean
clean: ## Remove build results
	cargo clean
