"""What Airflow is told about this provider; read at every start, so it imports nothing."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": ["string", "null"]}


def get_provider_info() -> dict[str, Any]:
    """The entry point `apache_airflow_provider`."""
    return {
        "package-name": "lakeproof",
        "name": "Lakeproof",
        "description": "Checks lakehouse tables, closes the gate on bad data, publishes the rest.",
        "connection-types": [
            {
                "connection-type": "lakeproof",
                "hook-class-name": "lakeproof.airflow.hooks.LakeproofHook",
                "hook-name": "Lakeproof",
                "conn-fields": {
                    "warehouse": {"label": "Folder of a local lakehouse", "schema": _TEXT},
                    "config": {"label": "lakeproof.toml", "schema": _TEXT},
                    "staging": {
                        "label": "Folder or address for staged results",
                        "description": "Every worker must reach it.",
                        "schema": _TEXT,
                    },
                    "run_url": {
                        "label": "Address of a run",
                        "description": "{run_id} stands for its id.",
                        "schema": _TEXT,
                    },
                },
                "ui-field-behaviour": {
                    "hidden-fields": ["login", "schema"],
                    "relabeling": {"host": "Spark", "password": "Token of Spark Connect"},
                    "placeholders": {"host": "local, sc://host, spark://host"},
                },
            }
        ],
        "extra-links": ["lakeproof.airflow.links.RunLink"],
    }
