#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# small_shared_memory.sh <command>: runs it where /dev/shm has 32 MiB, in a mount namespace of its own.
small='mount -t tmpfs -o size=32m tmpfs /dev/shm && exec "$@"'
for namespace in --mount "--map-root-user --mount"; do
  # shellcheck disable=SC2086 # two words
  if unshare $namespace sh -c "$small" sh true 2>/dev/null; then
    exec unshare $namespace sh -c "$small" sh "$@"
  fi
done
echo "SKIPPED: no mount namespace can be made here (unshare --mount)"
