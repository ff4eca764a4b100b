# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an exit code of 128 + N means."""

from __future__ import annotations

import signal


def signal_name(code: int) -> str:
    """Of the signal that an exit code stands for, such as SEGV; empty if it stands for none."""
    try:
        return signal.Signals(code - 128).name.removeprefix("SIG")
    except ValueError:
        return ""


def reason_of(code: int) -> str:
    """What may be meant by the signal that ended a program, if there is something to say."""
    if signal_name(code) != "ILL":
        return ""
    return (": it has an instruction that this processor does not know, as when it was built on another; build it here,"
            " or with 'kontor build -DKONTOR_NATIVE=OFF' for both")
