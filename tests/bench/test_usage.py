"""The sampler sees a whole tree of processes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from bench.usage import PeakTree, forget_peak, megabytes, memory_of, own_peak

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
            while (peak.bytes or 0) < 60_000_000 and time.monotonic() < until:
                time.sleep(0.05)
        assert 60_000_000 < (peak.bytes or 0) < 200_000_000
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_memory_that_cannot_be_read_is_unknown_and_not_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert memory_of(process.pid) is None
    assert own_peak(process.pid) is None
    assert not forget_peak(process.pid)
    assert megabytes(None) is None
    with PeakTree(process.pid, every_s=0.05) as peak:
        pass
    assert peak.bytes is None


def test_own_peak_is_begun_anew() -> None:
    """The process had 80 MB once, and gave them back before it is looked at again."""
    program = (
        "held = bytearray(80_000_000); print('held', flush=True); input();"
        "del held; print('gone', flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdout.readline()
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        before = own_peak(process.pid)
        if not forget_peak(process.pid):
            pytest.skip("the kernel does not allow it here")
        assert (before or 0) > 80_000_000 > (own_peak(process.pid) or 0) > 0
    finally:
        process.kill()
        process.communicate()
