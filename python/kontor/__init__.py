# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of Kontor: runs, studies and reports of its mini-apps."""
