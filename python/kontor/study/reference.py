# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of a study's keys in docs/studies.md: python3 -m kontor.study.reference, in python/, prints it."""

from collections.abc import Iterator

from .description import STUDY
from .kinds import Section
from .tree import flow


def table() -> str:
    """In Markdown."""
    return "\n".join(["| key | default | what it is |", "|---|---|---|", *_rows("", STUDY)])


def _rows(prefix: str, section: Section) -> Iterator[str]:
    for name, key in section.keys.items():
        if isinstance(key.kind, Section):
            yield f"| `{prefix}{name}` | | {key.help}: |"
            yield from _rows(f"{prefix}{name}.", key.kind)
            continue
        default = key.plain_default()
        empty = default in ([], {}, "")
        shown = "" if key.required else "empty" if empty and name not in ("ranks", "nodes") else f"`{flow(default) if not empty else 'auto'}`"
        yield f"| `{prefix}{name}` | {shown} | {key.help} |"


if __name__ == "__main__":
    print(table())
