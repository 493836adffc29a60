#!/usr/bin/env python3
"""Uses the playground of a built site in a real browser.

    python3 tests/tools/playground_browser.py SITE [--shots FOLDER]

Serves SITE locally and drives chromium with chromedriver. Clicks all examples, opens candidates by
keyboard, pastes hostile texts, measures the time to the first result for 100 KB, and looks for
violations of the content security policy, for scripts that ran, for requests to anything but the
server, for errors, and for pages wider than a phone. `--shots` keeps screenshots.
"""

import argparse, functools, http.server, json, pathlib, re, shutil, subprocess, sys, threading, time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browse_browser import Browser  # noqa: E402
from world import free_port  # noqa: E402

MARKUP = ('<script>document.title="ran"</script><img src=x onerror=\'document.title="ran"\'> '
          'http://evil.example/"><script>document.title="ran"</script>\n')
FIRST_RESULT_MS = 100


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map,
                      ".wasm": "application/wasm", ".js": "text/javascript"}

    def log_message(self, *_):
        pass


def mail(size):
    lines = [f"See http://h{n % 40}.example/lamps/{n} and the note below it, "
             "which has some words in it.\n" +
             "Oil lamps of the nineteenth century burned whale oil, later paraffin; "
             "here is nothing to find.\n" * 3 for n in range(size // 370)]
    return "From: a@b.example\nSubject: lamps\n\n" + "".join(lines)


def nested(depth):
    return "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"
                   for n in range(depth)) + "\nhttp://deep.example/\n"


HOSTILE = {
    "markup": MARKUP * 20,
    "directions": "see http://a.example/\u202etxt.exe\u202c and \u2066http://b.example/\u2069 "
                  "\u200b http://c.example/\x00\x1b[2J\x7f\n" * 50,
    "a long line": "http://a.example/" + "x" * 4_000_000,
    "many candidates": "http://a.example/ " * 100_000,
    "openers": "<URL:" * 100_000,
    "angles": "<http://a.example/" * 50_000,
    "deep parts": "From: a\nMIME-Version: 1.0\n" + nested(2_000),
    "html": "<html>" + "<a href='javascript:document.title=9'>x</a>" * 5_000 + "<div>" * 50_000,
    "no text": "\x00\x01\x02" * 1_000,
    "a mailbox": "".join(f"From a Mon Jan  1 00:00:00 1996\nSubject: {n} {MARKUP.strip()}\n\n"
                         f"http://a.example/{n}\n\n" for n in range(3_000)),
}


def fail(*words):
    sys.exit(f"playground_browser.py: {' '.join(map(str, words))}")


def settle(browser, text=None, seconds=30):
    """Waits for a result, and returns the state of the page."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = browser.script("return document.getElementById('status').textContent")
        if "explained in" in status or "skipped" in status or "Nothing of the input" in status:
            return status
        time.sleep(0.02)
    fail("no result in", seconds, "s:", text)


def give(browser, text):
    """Pastes a text into the page, and returns milliseconds until the result is on the screen."""
    return browser.run("/execute/async", {"script": """
        const [text, done] = arguments;
        const status = document.getElementById('status'), input = document.getElementById('input');
        const begun = performance.now();
        const observer = new MutationObserver(() => {
            if (!/explained in|skipped|Nothing of the input/.test(status.textContent)) return;
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
        });
        status.textContent = 'waiting';
        observer.observe(status, {childList: true, characterData: true, subtree: true});
        input.value = text;
        input.dispatchEvent(new Event('input', {bubbles: true}));
    """, "args": [text]})


def check(site, shots):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                             functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}/"
    port = free_port()
    driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
    browsers = []
    try:
        browser = Browser(port)
        browsers.append(browser)
        browser.run("/timeouts", {"script": 55_000})
        browser.open(base + "playground/index.html")
        settle(browser, "the first example")
        count = browser.script("return document.querySelectorAll('#examples button').length")
        if count != 10:
            fail(count, "examples")
        for number in range(count):
            browser.script("document.getElementById('status').textContent = ''; "
                "document.querySelectorAll('#examples button')[arguments[0]].click()", number)
            settle(browser, f"example {number}")
            marks = browser.script("return document.querySelectorAll('mark').length")
            if not marks:
                fail("example", number, "has no mark")
        # By keyboard alone: from the button to a mark, and its details.
        browser.script("document.querySelector('#examples button').click()")
        time.sleep(0.5)
        settle(browser)
        first = browser.script("return document.querySelector('#found summary code').textContent")
        if first != "ftp://info.cern.ch/pub/www/doc;type=d":
            fail("the first example is not the RFC's")
        browser.script("document.querySelector('mark').focus()")
        browser.run("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": "\ue007"}, {"type": "keyUp", "value": "\ue007"}]}]})
        time.sleep(0.3)
        shown = browser.script("return document.querySelector('details[open]')?.textContent ?? ''")
        for word in ("a line break", "ftpurl", "typecode", "RFC 3986"):
            if word not in shown:
                fail(f"the details lack {word!r}: {shown}")
        if browser.script("return document.activeElement.tagName") != "SUMMARY":
            fail("Enter on a mark does not lead to its details")
        # Speed.
        text = mail(100_000)
        times = sorted(give(browser, text) for _ in range(5))
        typing = 80  # the page waits this long for the next key
        print(f"{len(text)} bytes: {times[0] - typing:.0f} to {times[-1] - typing:.0f} ms to the "
              "result on the screen")
        if times[0] - typing > FIRST_RESULT_MS:
            print(f"slower than {FIRST_RESULT_MS} ms; is the machine busy?", file=sys.stderr)
        # Hostile input.
        for name, hostile in HOSTILE.items():
            took = give(browser, hostile)
            status = browser.script("return document.getElementById('status').textContent")
            print(f"{name}: {took:.0f} ms, {status}")
            if "Nothing of the input" in status:
                fail(name, "ended the module:", status)
            browser.script("[...document.querySelectorAll('#found details')].slice(0, 30)"
                           ".forEach(row => { row.open = true; })")
            made = "return document.querySelectorAll('#out :is(img, script, a, iframe)').length"
            if browser.script("return document.title") == "ran" or browser.script(made):
                fail(name, "became markup")
            shown = browser.script("return document.getElementById('out').textContent")
            if re.search("[\u202e\0\x1b]", shown):
                fail(name, "shows characters that hide or turn others")
        severe = [entry for entry in browser.log("browser") if entry["level"] == "SEVERE"
                  and "favicon" not in entry["message"]]
        if severe:
            fail("errors of the page:", severe[:3])
        requests = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
        urls = [event["params"]["request"]["url"] for event in requests
                if event["method"] == "Network.requestWillBeSent"]
        others = [url for url in urls if not url.startswith((base, "data:", "chrome"))]
        if others or not urls:
            fail("requests to others:", others, "of", len(urls))
        print(f"{len(urls)} requests, all to the server")
        looks(base, port, browsers, shots)
    finally:
        for browser in browsers:
            try:
                browser.close()
            except OSError:
                pass
        driver.terminate()
        driver.wait()
        server.shutdown()


def looks(base, port, browsers, shots):
    for dark in (False, True):
        for width, height in ((1280, 1000), (500, 900)):
            browser = Browser(port, dark=dark, size=(width, height))
            browsers.append(browser)
            browser.open(base + "playground/index.html")
            if dark:
                emulated = {"cmd": "Emulation.setEmulatedMedia", "params": {
                    "features": [{"name": "prefers-color-scheme", "value": "dark"}]}}
                browser.run("/goog/cdp/execute", emulated)
            if width < 800:
                metrics = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
                browser.run("/goog/cdp/execute",
                            {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics})
            settle(browser, "the first example")
            browser.script("document.querySelectorAll('#examples button')[1].click()")
            time.sleep(0.5)
            browser.script("document.querySelector('#found details').open = true")
            wide = browser.script("return document.documentElement.scrollWidth - "
                                  "document.documentElement.clientWidth")
            if wide > 0:
                fail(f"the page is {wide} px wider than a window of {width}")
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
                look = f"{'dark' if dark else 'light'}-{'narrow' if width < 800 else 'wide'}"
                browser.shot(shots / f"playground-{look}.png")
                browser.open(base + "joins.html")
                time.sleep(0.5)
                browser.shot(shots / f"site-{look}.png")
            browser.close()
            browsers.remove(browser)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("chromedriver"):
        print("SKIPPED: chromedriver is not installed", file=sys.stderr)
        sys.exit(77)
    check(arguments.site.resolve(), arguments.shots)


if __name__ == "__main__":
    main()
