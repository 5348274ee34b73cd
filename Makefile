# Every target does the set-up it needs. `make help` lists them.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell scripts/find_python)
READY := $(VENV)/.ready
AIRFLOW_VENV := .venv-airflow
AIRFLOW_READY := $(AIRFLOW_VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup setup-airflow demo example-airline test test-slow bench lint docs format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## virtual environment, Java and jars; does nothing if all is there, and works offline then
	@$(BIN)/python scripts/provision.py
	@$(BIN)/python tests/sqlglot_versions.py

$(READY): requirements.txt pyproject.toml scripts/make_venv
	@scripts/make_venv $(VENV) "$(PYTHON)"
	@touch $@

setup-airflow: setup $(AIRFLOW_READY) ## Airflow in an environment of its own, which its tests need

$(AIRFLOW_READY): requirements-airflow.txt pyproject.toml scripts/make_venv
	@scripts/make_venv $(AIRFLOW_VENV) "$(PYTHON)" requirements-airflow.txt
	@touch $@

demo: setup ## a lakehouse with planted errors, checked: the gate closes
	@$(BIN)/lakeproof demo

example-airline: setup ## books of 349,660 bookings: where each one went, and the same without Spark
	@$(BIN)/python examples/airline/generate.py
	@$(BIN)/python examples/airline/run.py
	@$(BIN)/lakeproof ledger verify "$$(ls -td build/airline/runs/*/ | head -1)"

lint: setup ## ruff, mypy strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The tests' many short statements are over before C2 has compiled them: without it they take a
# quarter less time. Java gives a single compiler too little room for what half an hour of Spark
# makes. Nor does Spark write Java for each of them, which is another quarter; the properties, the
# slow tests and the benchmarks have it do so.
QUICK_JAVA := -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC
QUICK_SPARK := -Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN
test: export SPARK_SUBMIT_OPTS ?= $(QUICK_JAVA) $(QUICK_SPARK)
test: lint setup-airflow ## lint, then the fast tests, in two processes
	$(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

test-slow: setup-airflow ## the long tests only
	$(BIN)/pytest -m slow

bench: setup ## the benchmarks, beside the same work done by hand
	$(BIN)/python bench/suite.py
	$(BIN)/python bench/long_list.py
	$(BIN)/python bench/contract.py
	$(BIN)/python bench/reconcile.py
	$(BIN)/python bench/ledger.py
	$(BIN)/python bench/incremental.py --quick
	$(BIN)/python bench/index_layout.py --quick
	$(BIN)/python bench/file_statistics.py --quick

docs: setup ## the documentation as a site in build/docs; a broken link fails
	$(BIN)/python scripts/write_reference.py
	$(BIN)/zensical build --clean --strict

format: setup ## format the code
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .

clean: ## remove what the targets made here; the caches of Java and jars stay
	rm -rf $(VENV) $(AIRFLOW_VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	rm -rf lakehouse lakeproof-demo spark-warehouse
