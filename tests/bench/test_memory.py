"""The sampler sees a whole tree of processes."""

import os
import signal
import subprocess
import sys
import time

from bench.usage import PeakTree, memory_of

# Holds 60 MB in a child of its own.
HOLD = "import time; held = bytearray(60_000_000); print('held', flush=True); time.sleep(30)"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}])"


def test_what_a_child_holds_counts() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    try:
        with PeakTree(process.pid, every_s=0.05) as peak:
            assert process.stdout.readline() == b"held\n"
            until = time.monotonic() + 10
            while peak.bytes < 60_000_000 and time.monotonic() < until:
                time.sleep(0.05)
        assert 60_000_000 < peak.bytes < 200_000_000
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_process_that_is_gone_holds_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert memory_of(process.pid) == 0
