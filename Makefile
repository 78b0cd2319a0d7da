# The entry points: make demo, make test, make check, make bench, make nightly,
# make fuzz, make sanitize, make dist, make browser.
# Each sets up what it needs in .venv; nothing outside this folder is touched, except by make browser.

PYTHON ?= python3
# Processes that share the Python tests: make test WORKERS=4.
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find core/src binding/src -name '*.rs' 2>/dev/null) Cargo.toml Cargo.lock core/Cargo.toml binding/Cargo.toml

.PHONY: demo test check format bench nightly spark-jvm fuzz sanitize dist browser clean tools

demo: $(VENV)/core
	@$(BIN)/python examples/demo.py

test: $(VENV)/core $(VENV)/test-tools
	cargo test --locked --quiet -p neardup-core
	$(BIN)/python -m pytest -n $(WORKERS)

# Nothing here is run, so the core need not be built.
check: $(VENV)/made $(VENV)/test-tools $(VENV)/check-tools
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/check-tools
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# make bench DATA=folder measures on real texts as well as on generated ones;
# LARGE=1 adds a self-join and an index of a hundred million codes and a job on ten million records.
bench: $(VENV)/core $(VENV)/test-tools spark-jvm
	$(BIN)/python benchmarks/run.py $(if $(DATA),--data $(DATA)) $(if $(LARGE),--large)

# The long forms of tests: hundreds of killed processes, junk in every place of a file, Spark with
# its JVM.
nightly: $(VENV)/core $(VENV)/test-tools spark-jvm
	$(BIN)/python -m pytest -m nightly

# Needs a nightly toolchain and cargo-fuzz (cargo install cargo-fuzz).
fuzz:
	cd core && cargo +nightly fuzz run fingerprint -- -max_total_time=$(or $(SECONDS),60)
	cd core && cargo +nightly fuzz run jsonl -- -max_total_time=$(or $(SECONDS),60)

# The tests of the index and the join under AddressSanitizer. Needs a nightly toolchain.
sanitize:
	RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/sanitize cargo +nightly test --locked --quiet \
		--target $$(rustc -vV | sed -n 's/^host: //p') -p neardup-core --lib --test index --test join

# The wheel of this machine and the sdist, each installed in an empty environment and tried.
dist: $(VENV)/made
	rm -rf dist
	$(BIN)/maturin build --release --locked --out dist
	$(BIN)/maturin sdist --out dist
	PYTHON=$(PYTHON) .ci/try dist/*.whl
	PYTHON=$(PYTHON) .ci/try dist/*.tar.gz

# A browser to look at pages with. The only target that installs something outside this folder.
browser:
	@.ci/browser

clean:
	rm -rf $(VENV) .venv-peers .venv-spark demo dist target core/fuzz/target

# Classic PySpark and its client overwrite each other's files, so it has an environment of its own.
# Without Java its tests are skipped.
spark-jvm:
	@if java -version 2>&1 | grep -qE 'version "(1[7-9]|[2-9][0-9])'; then $(MAKE) --no-print-directory .venv-spark/made; \
	else echo "make: Spark with its JVM is not tried: it needs Java 17 or newer (on Debian: apt-get install openjdk-17-jre-headless)"; fi

tools:
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is missing; install Python 3.11 or newer"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than 3.11; install Python 3.11 or newer and run make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "make: $(PYTHON) has no venv; install it (on Debian: apt-get install python3-venv)"; exit 1; }
	@command -v cargo >/dev/null || { echo "make: cargo is missing; install a Rust toolchain, 1.89 or newer (rustup, or your system's packages)"; exit 1; }
	@cargo --version | $(PYTHON) -c 'import re, sys; sys.exit([int(n) for n in re.findall(r"\d+", sys.stdin.read())[:2]] < [1, 89])' || { echo "make: $$(cargo --version) is older than 1.89; update the Rust toolchain (rustup update)"; exit 1; }
	@command -v cc >/dev/null || { echo "make: cc is missing; install a C compiler (on Debian: apt-get install gcc)"; exit 1; }

$(VENV)/made: requirements/run.txt | tools
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt
	@touch $@

$(VENV)/core: $(VENV)/made pyproject.toml $(RUST_SOURCES)
	@echo "building the core; the first time takes a few minutes"
	@VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked >$(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@touch $@

$(VENV)/test-tools: requirements/test.txt requirements/documents.txt requirements/http.txt requirements/serve.txt requirements/spark.txt $(VENV)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/test.txt
	@touch $@

# Spark with its JVM, for nightly tests: its package and the client that tests use exclude each other.
.venv-spark/made: requirements/spark-jvm.txt $(VENV)/made
	@test -x .venv-spark/bin/python || $(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt -r requirements/spark-jvm.txt
	@.venv-spark/bin/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "neardup.pth").write_text(str(pathlib.Path("python").resolve()) + "\n")'
	@touch $@

$(VENV)/check-tools: requirements/check.txt $(VENV)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/check.txt
	@touch $@
