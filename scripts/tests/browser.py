# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium that is driven through a pair of pipes, by its DevTools protocol."""

import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
LIMIT = 60  # seconds for an answer


def find():
    """The path of one, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. `events` are all that the browser has told so far."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(prefix="kontor-browser-", ignore_cleanup_errors=True)
        read_commands, self.to = os.pipe()
        self.answers, write_answers = os.pipe()

        def connect():  # it reads from 3 and writes to 4
            reader, writer = os.dup(read_commands), os.dup(write_answers)
            os.dup2(reader, 3)
            os.dup2(writer, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=connect, close_fds=False)
        os.close(read_commands)
        os.close(write_answers)
        self.number = itertools.count(1)
        self.rest, self.events, self.session = b"", [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.ask(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)
        self.profile.cleanup()

    def ask(self, method, **parameters):
        """The result of a command."""
        number = next(self.number)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, scripts=True):
        """Loads a file, with what was told before forgotten."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.ask("Page.navigate", url=f"file://{path}")
        while not self.told("Page.loadEventFired"):
            self.events.append(self._next())

    def told(self, method):
        return [event["params"] for event in self.events if event.get("method") == method]

    def value(self, expression):
        """Of a JavaScript expression in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description"))
        return found["result"].get("value")

    def press(self, key):
        code = {"Tab": 9, "Enter": 13, "Escape": 27}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def _next(self):
        end = time.monotonic() + LIMIT
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            more = os.read(self.answers, 1 << 20) if ready else b""
            if not more:
                raise TimeoutError("the browser says nothing")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)
