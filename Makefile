# Each target does all the set-up it needs on a machine with Python 3.11+, pip and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# What each target needs besides Quire itself; `bench` draws charts, and its tests do too. Types are
# checked against every library that the code and its tests import.
EXTRAS_demo  := embedded,ocr
EXTRAS_bench := embedded,ocr,bench
EXTRAS_test  := embedded,ocr,otel,bench,test
EXTRAS_all   := embedded,ocr,otel,bench,test,lint
WITH   := $(VENV)/.with-
# One more than the cores: many tests wait for a timeout or for a vendor.
JOBS   ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))

.PHONY: help setup demo check test tools docs pictures lint bench bench-full bench-text faults clean

help:
	@echo "make demo   turn the sample PDF into text on this machine, no key and no server needed"
	@echo "make check  lint, types and every test that needs no server (a minute and a half)"
	@echo "make test   all tests (real Temporal server, real HTTP, real PDFs; eight minutes on two cores)"
	@echo "make tools  install Prometheus and Chromium for the tests that use them (Debian, as root)"
	@echo "make pictures  take the pictures of the Web UI for the README"
	@echo "make docs   write the pages of docs/ that come from the code"
	@echo "make lint   ruff and mypy --strict"
	@echo "make bench  measure speed and cost into docs/benchmarks/quick (5 minutes)"
	@echo "make bench-full  every case, into docs/benchmarks/full (40 minutes)"
	@echo "make bench-text  how true the text is beside other tools, into docs/benchmarks/text.md (5 minutes)"
	@echo "make faults kill, starve and damage everything, and print what was lost (40 minutes)"
	@echo "make setup  only create .venv and install everything into it"
	@echo "make clean  remove .venv and caches, and say what is left"
	@echo "Each target installs into .venv what it needs, and no more."

setup: $(WITH)all

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed: set PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: set PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(WITH)%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing into $(VENV): quire[$(EXTRAS_$*)] (once, about a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(EXTRAS_$*)]'
	@touch $@

demo: $(WITH)demo
	@$(BIN)/python -m samples.make_sample samples/out/sample.pdf
	@$(BIN)/python starter.py process samples/out/sample.pdf --out demo-output

# mypy runs beside the tests; what it says comes after theirs.
check: $(WITH)all
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@said=$$(mktemp); $(BIN)/mypy >$$said 2>&1 & types=$$!; \
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not servers"; tests=$$?; \
	wait $$types; typed=$$?; cat $$said; rm -f $$said; [ $$tests = 0 ] && [ $$typed = 0 ]

test: $(WITH)test
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# Not part of `test`, which must not touch the machine: tests without their tool are skipped.
tools:
	@missing=; for name in prometheus promtool chromium chromedriver; do \
		command -v $$name >/dev/null || missing="$$missing $$name"; done; \
	if [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing prometheus, chromium and chromium-driver ..."; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends prometheus chromium chromium-driver >/dev/null \
		|| { echo "That did not work; without them their tests are skipped."; exit 1; }; \
	else echo "Needs root on Debian: prometheus, chromium, chromium-driver. Without them their tests are skipped."; exit 1; fi

# Tests fail when a generated page is out of date.
docs: $(WITH)demo
	@$(BIN)/python -m tools.write_errors_doc
	@$(BIN)/python -m tools.write_schemas
	@$(BIN)/python -m tools.draw_map

pictures: $(WITH)test tools
	@PICTURES=docs/images $(BIN)/python -m pytest -q tests/operations/test_web_ui.py

lint: $(WITH)all
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(WITH)bench
	@$(BIN)/python -m bench

bench-full: $(WITH)bench
	@$(BIN)/python -m bench --full

bench-text: $(WITH)bench
	@$(BIN)/python -m bench.text $(if $(BEFORE),--before $(BEFORE))

faults: $(WITH)bench
	@$(BIN)/python -m bench.faults --report docs/benchmarks/faults.md

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
	@for left in "$${STATE_DIR:-$$HOME/.local/state/quire}" samples/out demo-output; do \
		[ ! -e "$$left" ] || echo "left: $$left (remove it with: rm -r '$$left')"; done
	@echo "The state folder holds jobs, results and paid answers of this user; other STORE_URL and RESULTS_URL are left too."
