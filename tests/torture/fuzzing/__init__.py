# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutated inputs of every kind: each is accepted or refused in words, and nothing else happens."""
