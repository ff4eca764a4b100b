# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the values of a record must be, so that those who show it need not ask."""

NUMBER = (int, float)
LIST = (list, str)

RUN = {"app": str, "deck": str, "ranks": int, "hosts": LIST, "process_grid": str, "execution_space": str,
       "backend": str, "pattern": str, "packing": str, "path": str, "ending": str, "ending_in_words": str, "end_signal": str,
       "iterations": int, **dict.fromkeys(("residual", "true_residual", "error", "relative_error"), NUMBER)}
MATRIX = dict.fromkeys(("rows", "nonzeros"), int)
FIGURE = {"name": str, "value": NUMBER, "unit": str, "attainable": NUMBER, "fraction": NUMBER}
VERIFICATION = {"passed": int, "measure": str, "remark": str, "error": NUMBER, "tolerance": NUMBER}
TIMER = {"calls": int, "min": NUMBER, "median": NUMBER, "max": NUMBER, "slowest_rank": int, "once": int}
TRAFFIC = {"rank": int, "neighbour": int, "messages": int, "bytes": int}
TIMELINE = {"rank": int, "activity": str, "number": int, "begin": NUMBER, "end": NUMBER}
CALIBRATION = dict.fromkeys(
    ("triad_bandwidth", "copy_bandwidth", "peer_bandwidth", "latency", "bandwidth"), NUMBER)
CURVE = {"curve": str, "series": str, "size": int, "bytes": NUMBER, "messages": int,
         **dict.fromkeys(("mean", "median", "standard_error", "pack", "post", "wait", "unpack"), NUMBER)}
RATIO = {"curve": str, "series": str, "baseline": str, "size": int, "bytes": NUMBER, "ratio": NUMBER, "low": NUMBER,
         "high": NUMBER}
ALWAYS = {  # what all rows of a table have; a number that is not one is left out
    "figures": ("name", "value"), "timers": ("median",), "traffic": tuple(TRAFFIC), "timeline": tuple(TIMELINE),
    "curves": ("curve", "series", "size", "bytes"), "ratios": tuple(RATIO),
}


def misfit(record):
    """What is wrong with the first value that is; None if all are as they must be."""
    groups = [("", record.run, RUN), ("verification", record.verification, VERIFICATION),
              ("calibration", record.calibration, CALIBRATION), ("matrix", record.matrix, MATRIX)]
    groups += [("figures", row, FIGURE) for row in record.figures]
    groups += [("timers", row, TIMER) for row in record.timers.values()]
    groups += [("traffic", row, TRAFFIC) for row in record.traffic]
    groups += [("timeline", row, TIMELINE) for row in record.timeline]
    groups += [("curves", row, CURVE) for row in record.curves]
    groups += [("ratios", row, RATIO) for row in record.ratios]
    for name, values, kinds in groups:
        where = f"/run/{name}".rstrip("/")
        for key in ALWAYS.get(name, ()):
            if key not in values:
                return f"{where} lacks {key}"
        for key, kind in kinds.items():
            if key in values and not isinstance(values[key], kind):
                return f"{where} has {key} {str(values[key])[:40]!r}"
    if not all(isinstance(host, str) for host in record.run.get("hosts", "")):
        return "/run has hosts that are not names"
    if not 0 <= record.run.get("ranks", 1) < 10**9:
        return f"/run has {record.run['ranks']} ranks"
    return None
