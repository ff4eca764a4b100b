# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several hosts on one machine, by Linux namespaces; root is not needed where users may make them.

isolate() puts the whole test into namespaces of its own: its network is a loopback device of its own, so that no port
is taken, and whatever it has started ends with it. on_host() is a host within: its own name and /dev/shm, so that MPI
takes it for another node. What hosts send to each other goes through the loopback device.
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build"))
KONTOR = str(ROOT / "scripts/kontor")

# A plain user keeps the name, and may do what root may in these spaces only.
USER = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
SPACES = ["unshare", *USER, "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc"]
MARK = "KONTOR_ISOLATED"

# Open MPI leaves the loopback device out unless told.
ADDRESS = "10.77.0.1"
NETWORK = {
    "OMPI_MCA_btl_tcp_if_include": f"{ADDRESS}/24",
    "OMPI_MCA_oob_tcp_if_include": f"{ADDRESS}/24",
    "PMIX_MCA_ptl_tcp_if_include": f"{ADDRESS}/24",
}


def isolate():
    """Starts this test again in its namespaces, and does not return, unless it is there already."""
    if MARK in os.environ or reason_not_to():
        return
    reaper = ["bash", "-c", '"$@"; exit $?', "bash"]  # the first process is the parent of those that lose theirs
    os.execvpe(SPACES[0], [*SPACES, *reaper, *sys.orig_argv], {**os.environ, MARK: "1"})


def reason_not_to():
    """Why there are no such hosts here; empty if there are, or if this is one of them."""
    if MARK in os.environ:
        return ""
    if not shutil.which("unshare"):
        return "no unshare (util-linux)"
    done = subprocess.run([*SPACES, "true"], capture_output=True, text=True, check=False)
    return f"no namespaces here: {done.stderr.strip()}" if done.returncode else ""


def require_isolation():
    """For setUpModule(): skips, or makes the network ready. Kontor's runs are those of the build."""
    if reason := reason_not_to():
        raise unittest.SkipTest(reason)
    if MARK not in os.environ:
        raise unittest.SkipTest("run this file by itself: it makes namespaces")
    make_network()
    os.environ.update(KONTOR_BUILD_DIR=str(BUILD), KONTOR_BUILT="1")


def make_network():
    """The loopback device with another address than 127.0.0.1: with that alone names would not be looked up."""
    set_address, set_flags, up_and_running = 0x8916, 0x8914, 0x41
    address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, set_flags, struct.pack("16sh14x", b"lo", up_and_running))
        fcntl.ioctl(control, set_address, struct.pack("16s16s", b"lo", address))


def on_host(name):
    """The words before a command that is to run on the host of that name."""
    inside = 'hostname "$0" && mount -t tmpfs tmpfs /dev/shm && exec "$@"'
    return ["unshare", "--uts", "--ipc", "--mount", "sh", "-c", inside, name]


def wait_for(condition, what, limit):
    end = time.monotonic() + limit
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what() if callable(what) else what}: more than {limit} s")
        time.sleep(0.02)
    return found


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-")))
