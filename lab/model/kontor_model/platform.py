# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A described machine as SimGrid's platform file and the options of smpirun."""

from .machine import Machine

SPEED = 1e9  # flop/s of a core there: computation is charged in seconds, which smpirun turns into flops by the same number

# Algorithms that all MPI libraries have for few bytes; those that SMPI chooses by itself look at all ranks of a communicator first.
COLLECTIVES = {"allreduce": "rdb", "bcast": "binomial_tree", "barrier": "ompi_recursivedoubling", "allgather": "bruck",
               "gather": "ompi_binomial", "reduce": "ompi_binomial", "scatter": "ompi_binomial"}


def platform(machine: Machine, nodes: int) -> str:
    """XML of so many nodes: a fat tree of two levels, or one switch. In SimGrid a link's latency is that of all links."""
    switches = -(-nodes // machine.nodes_per_switch)
    common = (f'id="machine" prefix="n" suffix="" speed="{SPEED:.0f}f" core="{machine.ranks_per_node}" bw="{machine.link_bandwidth:.17g}Bps" '
              f'lat="{machine.link_latency:.17g}s" loopback_bw="{machine.node_bandwidth:.17g}Bps" loopback_lat="{machine.node_latency:.17g}s"')
    if switches > 1:
        hosts = switches * machine.nodes_per_switch
        uplinks = min(machine.uplinks, machine.nodes_per_switch)
        shape = f' topology="FAT_TREE" topo_parameters="2;{machine.nodes_per_switch},{switches};1,{uplinks};1,1"'
    else:
        hosts, shape = nodes, ""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster {common} radical="0-{hosts - 1}"{shape}/>
</platform>
"""


def hosts(machine: Machine, ranks: int) -> str:
    """The host of each rank."""
    return "".join(f"n{machine.node_of(rank)}\n" for rank in range(ranks))


def options(machine: Machine, privatized: str) -> list[str]:
    """Of smpirun. Messages take what the machine says, nothing more: no factors that SimGrid has fitted to other networks, no
    packets back, no time for a look at the clock or at a request. A probe takes 20 us: set-up alone makes them, and the fewer it
    makes while it waits, the sooner the simulation ends."""
    settings = {
        "surf/precision": "1e-12", "network/crosstraffic": "0", "network/weight-S": "0", "network/TCP-gamma": "0",
        "smpi/bw-factor": "0:1", "smpi/lat-factor": "0:1", "smpi/wtime": "0", "smpi/test": "0", "smpi/grow-injected-times": "no",
        "smpi/iprobe": "2e-5", "smpi/simulate-computation": "no", "smpi/host-speed": f"{SPEED:.0f}f", "smpi/cpu-threshold": "0",
        "smpi/os": f"0:{machine.send:.17g}:0", "smpi/ois": f"0:{machine.send:.17g}:0", "smpi/or": f"0:{machine.receive:.17g}:0",
        "smpi/privatization": "dlopen", "smpi/privatize-libs": privatized, "smpi/coll-selector": "mpich", "contexts/stack-size": "2048",
        **{f"smpi/{name}": algorithm for name, algorithm in COLLECTIVES.items()},
    }
    return ["--log=root.thres:critical", *(f"--cfg={key}:{value}" for key, value in settings.items())]
