#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What set-up costs on simulated ranks, by SimGrid's SMPI (Debian: simgrid, libsimgrid-dev):
#
#   lab/bench/comm/simulate.sh 64 256           lab/bench/comm/set_up.cpp
#   lab/bench/comm/simulate.sh --heat 64 256    the start of heat, and ten sweeps (Debian: libhdf5-dev too)
#
# Each rank has a host of its own in a cluster of 1 us and 12.5 GB/s. A message costs its sender and its
# receiver 0.3 us each, a probe 1 us, and computation nothing: what is simulated is communication.
set -eu

source=$(cd "$(dirname "$0")/../../.." && pwd)
build=$source/build-smpi
command -v smpirun >/dev/null || { echo "simulate.sh needs SimGrid (apt-get install simgrid libsimgrid-dev)" >&2; exit 1; }

target=comm_set_up program=$build/comm/comm_set_up
if [ "${1:-}" = --heat ]; then
  shift
  target=heat program=$build/bin/heat
fi

mkdir -p "$build"
(cd "$source" && cmake --preset smpi && cmake --build "$build" --target $target) >"$build/log" 2>&1 || { cat "$build/log" >&2; exit 1; }
kokkos=$(ldd "$program" | sed -n 's/^[[:space:]]*\(lib[^ ]*kokkoscore[^ ]*\) .*/\1/p') # its globals are each rank's own

simulate() { # <ranks> [<argument of the program>...]
  ranks=$1
  shift
  last=$((ranks - 1))
  cat >"$build/cluster.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="n" suffix="" radical="0-$last" speed="10Gf" bw="12.5GBps" lat="1us"
           loopback_bw="40GBps" loopback_lat="200ns"/>
</platform>
XML
  seq -f 'n%g' 0 "$last" >"$build/hosts"
  smpirun -np "$ranks" -platform "$build/cluster.xml" -hostfile "$build/hosts" --log=root.thres:critical \
    --cfg=smpi/coll-selector:mpich --cfg=smpi/privatization:dlopen "--cfg=smpi/privatize-libs:$kokkos" \
    --cfg=smpi/simulate-computation:no --cfg=smpi/grow-injected-times:no --cfg=smpi/test:0 --cfg=smpi/iprobe:1e-6 \
    --cfg=smpi/os:0:3e-7:0 --cfg=smpi/or:0:3e-7:0 --cfg=smpi/ois:0:3e-7:0 "$program" "$@"
}

for ranks in "$@"; do
  if [ $target = heat ]; then
    simulate "$ranks" "$source/inputs/heat/bandwidth.yaml" --set 'problem.cells=[1024,1024]' --set solver.max_sweeps=10 \
      --set measure.repeats=1 -o "$build/heat.h5" --results "$build/heat.json"
    sed -n "s/.*\"start_to_first_step\": *\([0-9.e-]*\).*/$ranks ranks, from the start of main() to the warm-up: \1 s/p" \
      "$build/heat.json"
  else
    simulate "$ranks"
  fi
done
