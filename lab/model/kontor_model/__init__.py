# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor predict and kontor simulate: what runs would take on a described machine, by a model and by SimGrid."""
