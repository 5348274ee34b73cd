"""Samples of the checks that hold moments against each other or against the clock."""

from __future__ import annotations

from golden_sample import Sample, array_of

MOMENT_SAMPLES: dict[str, list[Sample]] = {
    "available_by": [
        Sample({"day": "date"}, {"time": "09:00-08:00"}),
        Sample({"at": "timestamp"}, {"time": "7:30", "timezone": "Europe/Berlin"}),
        Sample({"at": "timestamp_ntz"}, {"time": "07:30Z"}, "country = 'Italy'"),
    ],
    "delay": [
        Sample({"sent_at": "timestamp", "loaded_at": "timestamp"}, {"max_delay": "4h"}),
        Sample({"day": "date", "loaded_at": "timestamp_ntz"}, {"max_delay": "P1M2D"}),
    ],
    "max_gap": [
        Sample({"day": "date"}, {"max_gap": "1d"}),
        Sample({"at": "timestamp"}, {"max_gap": "1mo"}, "country = 'Italy'"),
    ],
    "retention": [
        Sample({"day": "date"}, {"max_age": "3y"}),
        Sample({"day": "date"}, {"max_age": "36h", "timezone": "America/St_Johns"}),
        Sample({"at": "timestamp"}, {"max_age": "P1Y2M10DT2H30M"}),
        Sample({"at": "timestamp_ntz"}, {"max_age": "1y", "timezone": "Asia/Kathmandu"}),
        Sample({"seen": array_of("date")}, {"max_age": "9999y"}, columns=["seen[]"]),
    ],
    "service_period": [
        Sample({}, {"starts_at": "2022-05-12", "ends_at": "2032-05-12T09:30:10-08:00"}),
    ],
}
