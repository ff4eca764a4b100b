# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: many runs from one file, planned, made, resumed and tabulated."""
