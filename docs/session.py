#!/usr/bin/env python3
"""Writes docs/session.svg, the picture of a terminal session in the README, from real output.

    cargo build --release && docs/session.py [PROGRAM]

Run it again when the output of one of the commands has changed; a test compares the texts.
"""

import html
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = [
    "urlspool scan --format urls --unique run corpus/text/appendix.txt",
    "urlspool scan corpus/text/appendix.txt | head -1 | urlspool show",
    "urlspool scan --format grep corpus/mail/flowed.eml | head -3",
]
CHAR_WIDTH, LINE_HEIGHT, MARGIN, COLUMNS = 8.4, 20, 16, 92


def session(program: str) -> list[tuple[str, str]]:
    """The lines of the session, each with its class."""
    lines = []
    for command in COMMANDS:
        lines.append(("command", "$ " + command))
        script = command.replace("urlspool ", program + " ")
        printed = subprocess.run(["sh", "-c", script], cwd=ROOT,
                                 check=True, capture_output=True, text=True)
        lines += [("printed", line[:COLUMNS]) for line in printed.stdout.splitlines()]
    return lines


def picture(lines: list[tuple[str, str]]) -> str:
    """The session as an SVG without scripts, fonts or links."""
    width, height = COLUMNS * CHAR_WIDTH + 2 * MARGIN, len(lines) * LINE_HEIGHT + 2 * MARGIN
    rows = "".join(
        f'<text class="{kind}" x="{MARGIN}" y="{MARGIN + LINE_HEIGHT * (at + 0.7):.0f}" '
        'xml:space="preserve">'
        f"{html.escape(line, quote=False)}</text>\n"
        for at, (kind, line) in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" role="img">\n'
        "<style>text{font:14px ui-monospace,Menlo,Consolas,monospace}"
        ".command{fill:#8fd0ff}.printed{fill:#e6e6e6}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#1d2127"/>\n{rows}</svg>\n'
    )


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/urlspool")
    (ROOT / "docs/session.svg").write_text(picture(session(program)))


if __name__ == "__main__":
    main()
