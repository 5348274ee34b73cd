"""The run id of a task: the same for each of its tries, another one when the task is run again."""

from __future__ import annotations

import re
from datetime import UTC
from hashlib import sha256
from typing import Any

_NO_SLUG = re.compile(r"[^a-z0-9]+")
_NAME_CHARACTERS_MAX = 40
_HASH_CHARACTERS = 16


def run_id_of(task_instance: Any, dag_run: Any) -> str:  # noqa: ANN401 (the SDK's, or stand-ins)
    """A slug: the DAG's name, and a hash of DAG run, task and round.

    A retry goes on where the killed try was: same positions, same rows. A task that was cleared
    and runs again is a new run, whose rows are added. Airflow numbers tries through; what grows
    when a task is cleared is the number of tries that it may have, and the number of times that
    something of the DAG run was cleared: only the latter if the task was at work. A DAG run that
    was deleted and made again under its id has begun at another moment.
    """
    tries_before = task_instance.max_tries - (task_instance.task.retries or 0)
    begun = dag_run.start_date.astimezone(UTC).isoformat() if dag_run.start_date else ""
    identity = "\n".join(
        (
            task_instance.dag_id,
            task_instance.run_id,
            task_instance.task_id,
            str(task_instance.map_index),
            str(tries_before),
            str(dag_run.clear_number or 0),
            begun,
        )
    )
    name = _NO_SLUG.sub("-", task_instance.dag_id.lower())[:_NAME_CHARACTERS_MAX].strip("-")
    digest = sha256(identity.encode()).hexdigest()[:_HASH_CHARACTERS]
    return f"{name}-{digest}" if name else digest
