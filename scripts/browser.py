"""Open pages in a headless Chromium and report their faults.

    python scripts/browser.py FOLDER ... [--only NAME] [--pictures FOLDER]

The links of every HTML page in a folder are checked. The pages of `CHOSEN`, or all
pages of a folder without ``index.html``, are opened at widths of 390 and 1280 pixels,
in light and dark mode. A page must not load anything from another host, write errors to
the console or be wider than the window, and it must satisfy the accessibility rules of
axe-core. The environment variable CHROMIUM names the browser; the default is
``chromium``.
"""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import websocket

CHOSEN = [
    "*.html",
    "tutorials/*.html",
    "howto/*.html",
    "explanation/*.html",
    "reference/*.html",
    "developer/index.html",
    "vignettes/*.html",
]
WIDTHS = {390: 844, 1280: 900}
SCHEMES = ("light", "dark")
HERE = "127.0.0.1"
PATIENCE = 120  # seconds to wait for one answer of the browser
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
AXE = """
axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(
  found.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(
    n => n.target.join(' ') + (n.any[0] ? ' (' + n.any[0].message + ')' : '')
  ).join('; ') + (v.nodes.length > 3 ? ' and ' + (v.nodes.length - 3) + ' more' : ''))))
"""


def main() -> None:
    """Check all folders; exit with status 1 if there is a fault or no page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", default="", help="part of the paths to open")
    pictures = "folder for screenshots of the pages"
    parser.add_argument("--pictures", type=Path, help=pictures)
    options = parser.parse_args()
    opened = faults = 0
    with browser() as page:
        for folder in options.folders:
            faults += told(broken_links(folder))
            with served(folder) as address:
                for path in chosen(folder, options.only):
                    opened += 1
                    name = path.relative_to(folder).as_posix()
                    faults += told(looked_at(page, address, name, options.pictures))
    print(f"{opened} pages opened {len(WIDTHS) * len(SCHEMES)} times, {faults} faults")
    sys.exit(bool(faults) or not opened)


def told(faults: Iterable[str]) -> int:
    """Print each fault as soon as it is found; return their number."""
    count = 0
    for fault in faults:
        print(fault, flush=True)
        count += 1
    return count


def chosen(folder: Path, only: str) -> list[Path]:
    """Return the pages of a folder that are opened."""
    patterns = CHOSEN if (folder / "index.html").is_file() else ["*.html"]
    found = {path for pattern in patterns for path in folder.glob(pattern)}
    return [path for path in sorted(found) if only in path.as_posix()]


class Links(HTMLParser):
    """Addresses that a page links to, and identifiers that are link targets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: set[str] = set()
        self.places: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect links and identifiers."""
        given = dict(attrs)
        self.places.add(given.get("id") or "")
        if tag == "a":
            self.addresses.add(given.get("href") or "")


def broken_links(folder: Path) -> Iterator[str]:
    """Yield a line for every broken link within the folder."""
    pages = {p.resolve(): Links(p.read_text("utf-8")) for p in folder.rglob("*.html")}
    for path, links in pages.items():
        for address in sorted(links.addresses):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.is_file():
                yield f"{path.name}: link to {address}, which does not exist"
            elif to in pages and unquote(parts.fragment) not in pages[to].places:
                yield f"{path.name}: link to {address}, whose target does not exist"


class Quiet(SimpleHTTPRequestHandler):
    """Request handler that serves files without logging."""

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on the local host; yield the address."""
    server = ThreadingHTTPServer((HERE, 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{HERE}:{server.server_port}/"
    server.shutdown()


class Page:
    """A tab of the browser: sends commands of the DevTools protocol, stores events."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(
            address, timeout=PATIENCE, suppress_origin=True
        )
        self._number = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        self._socket.send(
            json.dumps({"id": self._number, "method": method, "params": params})
        )
        found = self._until(lambda message: message.get("id") == self._number)
        if "error" in found:
            raise RuntimeError(f"{method}: {found['error']['message']}")
        return dict(found["result"])

    def open(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        self.events.clear()
        self("Page.navigate", url=address)
        loaded = "Page.loadEventFired"
        if not any(event["method"] == loaded for event in self.events):
            self._until(lambda message: message.get("method") == loaded)

    def value(self, script: str) -> Any:
        """Return the value of a script, or of its promise."""
        found = self(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self._socket.recv())
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                return message


@contextmanager
def browser() -> Iterator[Page]:
    """Start Chromium with an empty profile; yield a tab."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [os.environ.get("CHROMIUM", "chromium"), "--headless=new"]
        command += ["--disable-gpu", "--no-first-run", "--hide-scrollbars"]
        command += ["--remote-debugging-port=0", f"--user-data-dir={profile}"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        run = subprocess.Popen(
            [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            yield Page(_address_of_tab(Path(profile) / "DevToolsActivePort", run))
        finally:
            run.terminate()
            run.wait()


def _address_of_tab(written: Path, run: subprocess.Popen[bytes]) -> str:
    from urllib.request import urlopen

    until = time.monotonic() + PATIENCE
    while not written.is_file() or "\n" not in written.read_text():
        if run.poll() is not None or time.monotonic() > until:
            sys.exit(f"browser.py: {run.args[0]} does not start")  # type: ignore[index]
        time.sleep(0.1)
    port = written.read_text().splitlines()[0]
    with urlopen(f"http://{HERE}:{port}/json/list") as answer:
        tabs = json.load(answer)
    return str(next(t["webSocketDebuggerUrl"] for t in tabs if t["type"] == "page"))


def looked_at(
    page: Page, address: str, name: str, pictures: Path | None
) -> Iterator[str]:
    """Yield the faults of a page, at each width and in both colour schemes."""
    for width, height in WIDTHS.items():
        for scheme in SCHEMES:
            size = {"width": width, "height": height, "deviceScaleFactor": 1}
            page("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)
            media = [{"name": "prefers-color-scheme", "value": scheme}]
            page("Emulation.setEmulatedMedia", features=media)
            page.open(urljoin(address, name))
            page.value(axe_core())
            for fault in faults_of(page):
                yield f"{name}, {width} px, {scheme}: {fault}"
            if pictures:
                stem = name.removesuffix(".html").replace("/", "-")
                _kept(page, pictures / f"{stem}-{width}-{scheme}.png")


def faults_of(page: Page) -> Iterator[str]:
    """Yield the faults of the open page."""
    if (wider := page.value(OVERFLOW)) > 0:
        yield f"{wider} pixels wider than the window"
    yield from json.loads(page.value(AXE))
    for event in page.events:
        params = event["params"]
        match event["method"]:
            case "Network.requestWillBeSent":
                asked = urlsplit(params["request"]["url"])
                if asked.scheme not in {"data", "blob"} and asked.hostname != HERE:
                    yield f"requests {params['request']['url']}"
            case "Network.responseReceived" if params["response"]["status"] >= 400:
                if not params["response"]["url"].endswith("/favicon.ico"):
                    yield f"requests {params['response']['url']}, which does not exist"
            case "Runtime.exceptionThrown":
                yield f"script failed: {params['exceptionDetails']['text']}"
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                if not params["entry"].get("url", "").endswith("/favicon.ico"):
                    yield f"console: {params['entry']['text']}"
            case "Runtime.consoleAPICalled" if params["type"] == "error":
                yield f"console: {params['args'][0].get('value')}"


def axe_core() -> str:
    """Return the script of axe-core, from the package axe-core-python."""
    spec = find_spec("axe_core_python")
    if spec is None or spec.origin is None:
        sys.exit("browser.py: pip install axe-core-python")
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def _kept(page: Page, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    found = page("Page.captureScreenshot", captureBeyondViewport=True)
    path.write_bytes(base64.b64decode(found["data"]))


if __name__ == "__main__":
    main()
