# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that are killed, and runs whose calls fail; afterwards everything must be in order."""
