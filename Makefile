# Each target does all the set-up it needs on a machine with Python 3.11+, pip and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# One more than the cores: many tests of `make test` wait for a timeout or for a vendor.
JOBS   ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))

.PHONY: help setup demo check test tools docs pictures lint bench bench-full faults clean

help:
	@echo "make demo   turn the sample PDF into text on this machine, no key and no server needed"
	@echo "make check  lint, types and every test that needs no server (a minute)"
	@echo "make test   all tests (real Temporal server, real HTTP, real PDFs; eight minutes on two cores)"
	@echo "make tools  install Prometheus and Chromium for the tests that use them (Debian, as root)"
	@echo "make pictures  take the pictures of the Web UI for the README"
	@echo "make docs   write the pages of docs/ that come from the code"
	@echo "make lint   ruff and mypy --strict"
	@echo "make bench  measure speed and cost into docs/benchmarks/quick (5 minutes)"
	@echo "make bench-full  every case, into docs/benchmarks/full (40 minutes)"
	@echo "make faults kill, starve and damage everything, and print what was lost (40 minutes)"
	@echo "make setup  only create .venv and install everything into it"
	@echo "make clean  remove .venv and caches"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed: set PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: set PYTHON=/path/to/python3"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (once, about a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[embedded,ocr,otel,test,lint,bench]'
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/python -m samples.make_sample samples/out/sample.pdf
	@$(BIN)/python starter.py process samples/out/sample.pdf --out demo-output

# mypy runs beside the tests; what it says comes after theirs.
check: $(STAMP)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@said=$$(mktemp); $(BIN)/mypy >$$said 2>&1 & types=$$!; \
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not servers"; tests=$$?; \
	wait $$types; typed=$$?; cat $$said; rm -f $$said; [ $$tests = 0 ] && [ $$typed = 0 ]

test: $(STAMP)
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
docs: $(STAMP)
	@$(BIN)/python -m tools.write_errors_doc
	@$(BIN)/python -m tools.draw_map

pictures: $(STAMP) tools
	@PICTURES=docs/images $(BIN)/python -m pytest -q tests/operations/test_web_ui.py

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(STAMP)
	@$(BIN)/python -m bench

bench-full: $(STAMP)
	@$(BIN)/python -m bench --full

faults: $(STAMP)
	@$(BIN)/python -m bench.faults

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
