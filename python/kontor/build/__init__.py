# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor build, test and lint: from a bare machine to built and tested programs."""
