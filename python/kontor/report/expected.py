# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the values of a record must be, so that those who show it need not ask."""

NUMBER = (int, float)
LIST = (list, str)

RUN = {"app": str, "deck": str, "ranks": int, "hosts": LIST, "process_grid": str, "execution_space": str,
       "backend": str, "pattern": str, "packing": str, "path": str, "ending": str, "ending_in_words": str, "end_signal": str,
       "iterations": int, **dict.fromkeys(("residual", "true_residual", "error", "relative_error"), NUMBER)}
CHECKPOINT = {**dict.fromkeys(("written", "bytes", "at_step", "at_repeat"), int), **dict.fromkeys(("seconds", "bandwidth", "overhead"), NUMBER),
              **dict.fromkeys(("newest", "restarted_from"), str)}
MATRIX = dict.fromkeys(("rows", "nonzeros"), int)
FIGURE = {"name": str, "unit": str, "remark": str,
          **dict.fromkeys(("value", "attainable", "fraction", "bytes_read", "bytes_written"), NUMBER)}
VERIFICATION = {"passed": int, "measure": str, "remark": str, "error": NUMBER, "tolerance": NUMBER}
TIMER = {"calls": int, "min": NUMBER, "median": NUMBER, "max": NUMBER, "slowest_rank": int, "once": int, "kind": str}
TRAFFIC = {"rank": int, "neighbour": int, "messages": int, "bytes": int}
PLACEMENT = dict.fromkeys(("host", "cores", "threads"), str)
TIMELINE = {"rank": int, "activity": str, "number": int, "begin": NUMBER, "end": NUMBER}
CALIBRATION = dict.fromkeys(
    ("read_bandwidth", "copy_bandwidth", "triad_bandwidth", "working_set_read_bandwidth", "working_set_copy_bandwidth",
     "working_set_triad_bandwidth", "peer_bandwidth", "latency", "bandwidth", "large_message", "large_bandwidth"), NUMBER)
CURVE = {"curve": str, "series": str, "size": int, "bytes": NUMBER, "messages": int,
         **dict.fromkeys(("mean", "median", "standard_error", "pack", "post", "wait", "unpack"), NUMBER)}
RATIO = {"curve": str, "series": str, "baseline": str, "size": int, "bytes": NUMBER, "ratio": NUMBER, "low": NUMBER,
         "high": NUMBER}
GROUPS = {"run": RUN, "verification": VERIFICATION, "calibration": CALIBRATION, "matrix": MATRIX, "checkpoint": CHECKPOINT}
TABLES = {"figures": FIGURE, "timers": TIMER, "traffic": TRAFFIC, "placement": PLACEMENT, "timeline": TIMELINE, "curves": CURVE, "ratios": RATIO}
ALWAYS = {  # what all rows of a table have; a number that is not one is left out
    "figures": ("name", "value"), "timers": ("median",), "traffic": tuple(TRAFFIC), "timeline": tuple(TIMELINE),
    "curves": ("curve", "series", "size", "bytes"), "ratios": tuple(RATIO),
}


def misfit(record):
    """What is wrong with the first value that is; None if all are as they must be."""
    groups = [(name, getattr(record, name), kinds) for name, kinds in GROUPS.items()]
    groups += [(name, values, dict.fromkeys(values, NUMBER)) for name, values in (("volume", record.volume), ("memory", record.memory))]
    for name, kinds in TABLES.items():
        table = list(record.timers.values()) if name == "timers" else getattr(record, name)
        if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
            return f"/run/{name} is no table"
        groups += [(name, row, kinds) for row in table]
    for name, values, kinds in groups:
        where = "/run" if name == "run" else f"/run/{name}"
        for key in ALWAYS.get(name, ()):
            if key not in values:
                return f"{where} lacks {key}"
        for key, kind in kinds.items():
            if key in values and not isinstance(values[key], kind):
                return f"{where} has {key} {str(values[key])[:40]!r}"
    if not all(isinstance(host, str) for host in record.run.get("hosts", "")):
        return "/run has hosts that are not names"
    if not isinstance(record.repeats, list) or not all(isinstance(seconds, NUMBER) for seconds in record.repeats):
        return "/run/repeats has values that are no numbers"
    history = [record.history.get(key, [0]) for key in ("iterations", "values")]
    if not all(isinstance(values, list) and values and all(isinstance(x, NUMBER) for x in values) for values in history) or len({*map(len, history)}) > 1:
        return "/run/history is not a number for each iteration"
    if wrong := _of_ranks(record.per_rank):
        return f"/run/per_rank {wrong}"
    if not 0 <= record.run.get("ranks", 1) < 10**9:
        return f"/run has {record.run['ranks']} ranks"
    return None


def _of_ranks(table):
    """What is wrong with the seconds of regions by repeat and rank; None if nothing is."""
    if not table:
        return None
    regions, seconds, wall = (table.get(key) for key in ("regions", "seconds", "wall"))
    regions = [] if isinstance(regions, str) and not regions else regions
    if not isinstance(regions, list) or not all(isinstance(name, str) for name in regions):
        return "has regions that are not names"
    if not isinstance(seconds, list) or not isinstance(wall, list) or len(seconds) != len(wall):
        return "has no seconds of each repeat"
    for of_ranks, walls in zip(seconds, wall):
        if not isinstance(of_ranks, list) or not isinstance(walls, list) or len(of_ranks) != len(walls):
            return "has repeats that are not of as many ranks"
        if not all(isinstance(number, NUMBER) for number in walls):
            return "has wall times that are no numbers"
        if not all(isinstance(row, list) and len(row) == len(regions) and all(isinstance(x, NUMBER) for x in row) for row in of_ranks):
            return f"has ranks without a number for each of {len(regions)} regions"
    return None
