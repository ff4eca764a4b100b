# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor run: one run of a mini-app, on the ranks asked for."""
