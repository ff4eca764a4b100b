# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Methods of communication: those that a trial has timed, and those that whole runs compare."""

from __future__ import annotations

from typing import Any, NamedTuple

KEYS = ("backend", "pattern", "packing", "path")
MPI = ("raw", "view")  # the backends whose pattern and path a deck chooses


class Method(NamedTuple):
    backend: str
    pattern: str
    packing: str
    path: str

    @classmethod
    def of(cls, values: dict[str, Any]) -> Method:
        """Of a candidate of a record or of the section `comm` of a deck. A path in host memory is no choice."""
        words = {key: str(values.get(key, "auto")) for key in KEYS}
        return cls(**{**words, "path": "auto" if words["path"] == "host" else words["path"]})

    @property
    def settings(self) -> dict[str, str]:
        """What a deck says, by key."""
        return {f"comm.{key}": value for key, value in zip(KEYS, self)}

    @property
    def words(self) -> str:
        """Such as `view, persistent, kernel`."""
        shown = [self.backend, *([self.pattern] if self.backend in MPI else []), self.packing, self.path]
        return ", ".join(shown[:1] + [word for word in shown[1:] if word != "auto"])

    @property
    def yaml(self) -> str:
        """The section of a deck that chooses it."""
        chosen = [f"{key}: {value}" for key, value in zip(KEYS, self)
                  if value != "auto" and (key != "pattern" or self.backend in MPI)]
        return f"comm: {{{', '.join(chosen)}}}"


def timed(candidates: list[dict[str, Any]]) -> dict[Method, float]:
    """Seconds of an exchange by method, the fastest first."""
    found = {Method.of(each): float(each["seconds"]) for each in candidates}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def exchange_of(method: Method, exchanges: dict[Method, float]) -> float | None:
    """Seconds of an exchange; None if it is not known. A trial leaves out `raw`, whose MPI calls are those of `view`."""
    like = [each for each in exchanges if each == method._replace(packing=each.packing) or method.backend == "raw"
            and each == method._replace(backend="view", packing="kernel")]
    exact = [each for each in like if each == method]
    return exchanges[(exact or like)[0]] if like else None


def to_run(own: Method, exchanges: dict[Method, float]) -> list[Method]:
    """The deck's own method and the fastest of each backend, each once, the deck's own first."""
    best: dict[str, Method] = {}
    for method in exchanges:
        best.setdefault(method.backend, method)
    return list(dict.fromkeys([own, *best.values()]))
