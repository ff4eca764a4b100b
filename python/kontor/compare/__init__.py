# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which method of communication suits a deck on this machine."""
