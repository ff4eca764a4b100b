# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The site: MkDocs finds every page that others link to, and links lead to places that its pages have."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

CONFIGURATION = Path(os.environ.get("KONTOR_BUILD_DIR", "build"), "docs/mkdocs.yml").resolve()
NOT_HERE = "skipped: no mkdocs with its material theme here (Debian/Ubuntu: apt-get install mkdocs-material)"


@unittest.skipUnless(CONFIGURATION.exists() and shutil.which("mkdocs"), NOT_HERE)
class SiteTest(unittest.TestCase):
    def test_links(self):
        with tempfile.TemporaryDirectory(prefix="kontor-site-") as folder:
            command = ["mkdocs", "build", "--quiet", "--strict", "-f", CONFIGURATION, "-d", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if "Unrecognised theme" in done.stderr or "No module named 'pymdownx'" in done.stderr:
                self.skipTest(NOT_HERE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            pages = {path: path.read_text(encoding="utf-8") for path in Path(folder).resolve().rglob("*.html")
                     if path.parent.name != "api"}
            places = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
            for page, text in pages.items():
                for path, fragment in re.findall(r'<a href="([^"#:?]*)(?:#([^"]*))?"', text):
                    target = (page.parent / path).resolve() if path else page
                    if page.name == "404.html" or target.parent.name == "api":
                        continue
                    with self.subTest(page=str(page.relative_to(folder)), link=f"{path}#{fragment}"):
                        self.assertTrue(target.is_file())
                        if fragment:
                            self.assertIn(fragment, places[target])


if __name__ == "__main__":
    unittest.main()
