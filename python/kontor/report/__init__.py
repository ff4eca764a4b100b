# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and shows the HDF5 files that Kontor's runs write."""
