# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tidy_database.py compile_commands.json: the same for clang, and with an entry for each source.

Sources that are compiled together get entries of their own. clang cannot read what g++ precompiled, nor some of its
options.
"""

import json
import re
import sys
from pathlib import Path

entries = []
for entry in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
    entry["command"] = re.sub(r" -Winvalid-pch -include \S*cmake_pch\.hxx| -fpch-preprocess| --param=\S*", "", entry["command"])
    together = Path(entry["file"])
    sources = [entry["file"]]
    if "Unity" in together.parts and together.exists():
        sources = re.findall(r'^#include "(.*)"$', together.read_text(encoding="utf-8"), re.MULTILINE)
    entries += [{**entry, "file": source, "command": entry["command"].replace(entry["file"], source)} for source in sources]
json.dump(entries, sys.stdout, indent=1)
