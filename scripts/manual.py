#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""manual.py cli.md FOLDER: the man page kontor.1 and the completion of bash, of the commands of an installation."""

import re
import sys
from pathlib import Path

COMPLETION = """# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
_kontor() {{
  local -A options=({options})
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  if [[ $COMP_CWORD == 1 ]]; then words="{commands} help --version"
  elif [[ $COMP_CWORD == 2 && ${{COMP_WORDS[1]}} == app ]]; then words="{apps}"
  elif [[ $word == -* ]]; then words=${{options[${{COMP_WORDS[1]}}]-}}
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -F _kontor kontor
"""


def sections(page: str) -> dict[str, str]:
    """The blocks of the commands that an installation has, by the words before them."""
    everywhere = page.partition("\n## In a source tree\n")[0]
    blocks = dict(re.findall(r"(?ms)^##+ ([^\n]*)\n\n```text\n(.*?)```$", everywhere))
    blocks["kontor app"] += "\n" + page.rpartition("```text\n")[2].partition("```")[0]
    return blocks


def man_page(blocks: dict[str, str]) -> str:
    text = '.TH KONTOR 1\n.SH NAME\nkontor \\- Kokkos mini\\-apps over a swappable communication layer\n'
    for name, block in blocks.items():
        lines = block.replace("\\", "\\e").replace("-", "\\-").splitlines()
        quoted = "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)
        text += f".SH {name.upper()}\n.nf\n{quoted}\n.fi\n"
    return text


def completion(blocks: dict[str, str], apps: list[str]) -> str:
    commands = {name.removeprefix("kontor "): block for name, block in blocks.items() if " " in name}
    options = {name: " ".join(sorted(set(re.findall(r"--[a-z][a-z-]*", block)))) for name, block in commands.items()}
    return COMPLETION.format(commands=" ".join(commands), apps=" ".join(apps),
                             options=" ".join(f'[{name}]="{words}"' for name, words in options.items()))


if __name__ == "__main__":
    text, folder = Path(sys.argv[1]).read_text(encoding="utf-8"), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    found = sections(text)
    (folder / "kontor.1").write_text(man_page(found), encoding="utf-8")
    apps_of_page = re.findall(r"(?m)^\| `(\w+)` \|", text)
    (folder / "kontor").write_text(completion(found, apps_of_page), encoding="utf-8")
