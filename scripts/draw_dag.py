"""Draw the shipped DAG into its guide, from the DAG itself.

.venv-airflow/bin/python scripts/draw_dag.py            writes docs/guides/data_quality_checks.svg
.venv-airflow/bin/python scripts/draw_dag.py --check    exits 1 if the file says something else
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import Any

from lakeproof.airflow.example_dags.data_quality_checks import dag

PICTURE = Path(__file__).parents[1] / "docs" / "guides" / "data_quality_checks.svg"

_BOX, _GAP, _EDGE, _TOP = (190, 52), 34, 18, 44
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1b1b1b }
  .kind { font-size: 11px; fill: #5a5a5a }
  .task { fill: #ffffff; stroke: #2e7d32 }
  .group { fill: #e8f5e9; stroke: #2e7d32; stroke-dasharray: 4 3 }
  line { stroke: #1b1b1b }
"""
_TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0 8 4 0 8z"/></marker>'
)


def in_order(found: Any) -> list[Any]:  # noqa: ANN401 (a DAG of Airflow)
    """Its tasks from the first to the last: each has at most one behind it."""
    row = list(found.roots)
    while row[-1].downstream_list:
        [behind] = row[-1].downstream_list
        row.append(behind)
    if len(row) != len(found.tasks):
        raise ValueError(f"the tasks of {found.dag_id} are not in a row")
    return row


def svg(found: Any) -> str:  # noqa: ANN401
    """The tasks as boxes in a row, with a frame around each task group."""
    width, height = _BOX
    step = width + _GAP
    tasks = in_order(found)
    places = {task.task_id: _EDGE * 2 + step * number for number, task in enumerate(tasks)}
    whole = f"{_EDGE * 4 + step * len(tasks) - _GAP} {_TOP + height + _EDGE * 2}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole}" role="img">',
        f"<title>{escape(found.dag_id)}</title>",
        f"<style>{_STYLE}</style>",
        _TIP,
    ]
    for name, group in found.task_group_dict.items():
        inside = [places[task] for task in group.children]
        parts.append(
            f'<rect class="group" x="{min(inside) - _EDGE}" y="{_TOP - _EDGE}" rx="6" '
            f'width="{max(inside) - min(inside) + width + _EDGE * 2}" '
            f'height="{height + _EDGE * 2}"/>'
        )
        parts.append(
            f'<text x="{min(inside) - _EDGE}" y="{_TOP - _EDGE - 8}">{escape(name)}</text>'
        )
    for task in tasks:
        left, middle = places[task.task_id], places[task.task_id] + width // 2
        kind = escape(task.task_type)
        parts += [
            f'<rect class="task" x="{left}" y="{_TOP}" width="{width}" height="{height}" rx="4"/>',
            f'<text x="{middle}" y="{_TOP + 22}" text-anchor="middle">{escape(task.label)}</text>',
            f'<text class="kind" x="{middle}" y="{_TOP + 39}" text-anchor="middle">{kind}</text>',
        ]
        for behind in task.downstream_task_ids:
            parts.append(
                f'<line x1="{left + width}" y1="{_TOP + height // 2}" x2="{places[behind]}" '
                f'y2="{_TOP + height // 2}" marker-end="url(#tip)"/>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Exit code 0 if the picture is as drawn."""
    drawn = svg(dag)
    if "--check" in sys.argv[1:]:
        is_same = PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == drawn
        sys.stdout.write("" if is_same else f"{PICTURE.name} is not what the DAG looks like\n")
        return 0 if is_same else 1
    PICTURE.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
