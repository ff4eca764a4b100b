#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report: shows one run, compares several, plots."""

import argparse
import json
import signal
import sys
from dataclasses import asdict

try:
    from kontor_report.compare import by_app, compare, speed
    from kontor_report.record import RecordError, read_field, read_record
    from kontor_report.show import show
except ModuleNotFoundError as error:
    print(f"kontor: report needs Python with {error.name}: apt-get install python3-{error.name}", file=sys.stderr)
    sys.exit(2)


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="kontor report",
        description="Shows the record of one run; compares several, the first being the baseline.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE.h5", help="what runs have written")
    parser.add_argument("--plot", metavar="OUT.png", help="one file: its field or its curves; several: times and figures of merit")
    parser.add_argument("--json", action="store_true", help="print the records as JSON instead of tables")
    parser.add_argument("--extract-deck", metavar="DECK.yaml", help="write the file's deck there and print its rank count")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    records = [read_record(path) for path in arguments.files]
    if arguments.extract_deck:
        extract_deck(records[0], arguments.extract_deck)
    elif arguments.json:
        print(json.dumps(as_plain(records), indent=2))
    else:
        print(show(records[0]) if len(records) == 1 else compare(records))
    if arguments.plot:
        plot(records, arguments.plot)


def as_plain(records):
    groups = by_app(records).values()
    return [{**asdict(record), "speed": speed(record, group[0])} for group in groups for record in group]


def extract_deck(record, path):
    missing = [key for key in ("deck", "ranks") if not record.run.get(key)]
    if missing:
        raise RecordError(f"{record.path}: the run cannot be repeated: /run has no attribute {' and no '.join(missing)}")
    with open(path, "w", encoding="utf-8") as deck:
        deck.write(record.run["deck"])
    print(record.run["ranks"])


def plot(records, path):
    try:
        from kontor_report.curve_plots import plot_curves
        from kontor_report.plots import plot_comparison, plot_field
    except ModuleNotFoundError as error:
        raise RecordError(f"--plot needs Python with {error.name}: apt-get install python3-{error.name}") from error
    try:
        if len(records) == 1 and records[0].curves:
            plot_curves(records[0], path)
        elif len(records) == 1:
            plot_field(records[0], read_field(records[0].path), path)
        else:
            plot_comparison(records, path)
    except (OSError, ValueError) as error:  # a folder that is not there, an unknown kind of picture
        raise RecordError(f"--plot: {path} cannot be written: {error}") from error
    print(f"kontor: plotted {path}", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # kontor report ... | head
    try:
        main()
    except RecordError as error:
        print(f"kontor: {error}", file=sys.stderr)
        sys.exit(2)
