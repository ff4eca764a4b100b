# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ten decks of docs/benchmark.md and the archive of their results."""
