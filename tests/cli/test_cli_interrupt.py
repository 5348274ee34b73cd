from __future__ import annotations

import os
import signal
import threading

import pytest

from lakeproof.engines.spark.interrupting import interruptible

ENDLESS = (
    "SELECT count(*) FROM range(10000000) a CROSS JOIN range(10000000) b WHERE a.id * b.id = 7"
)


def test_ctrl_c_ends_the_statement_and_leaves_the_session_usable(spark, capfd):
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt), interruptible(spark):
        spark.sql(ENDLESS).collect()
    timer.join()
    assert [row["one"] for row in spark.sql("SELECT 1 AS one").collect()] == [1]
    assert signal.getsignal(signal.SIGINT) is before
    assert spark.sparkContext.statusTracker().getActiveJobsIds() == []
    assert "Traceback" not in capfd.readouterr().err
