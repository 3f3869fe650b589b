# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test slow benchmarks docs clean

demo: $(VENV)/installed
	$(BIN)/fairx reproduce fig1 fig2 --scale quick --out results/demo

test: $(VENV)/installed
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check

slow: $(VENV)/installed
	$(BIN)/python -m pytest -m slow tests

benchmarks: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group benchmarks
	$(BIN)/python benchmarks/speed.py

docs: $(VENV)/installed
	$(BIN)/python scripts/gallery
	$(BIN)/zensical serve

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt --group test --group docs -e '.[all]'
	touch $@

clean:
	rm -rf $(VENV) .cache build dist site results .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
