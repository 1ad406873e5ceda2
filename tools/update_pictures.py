"""Makes the pictures of the README from a run of the harness.

    tools/bazel build //harness
    NODE_MODULES=DIR/node_modules python3 tools/update_pictures.py

Writes terminal.png, page.png and index.png below reports/reference: the harness in a terminal, a page
as GitHub would show it, and index.html. Needs Chromium, a font with emoji (fonts-noto-color-emoji), the
PyPI package pyte, and in NODE_MODULES the npm packages marked, github-markdown-css and mermaid.
"""

import argparse
import fcntl
import html
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios

try:
    import pyte
except ImportError:
    sys.exit("update_pictures.py: package pyte is missing; run: pip install pyte")

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 88, 18
PAGE = "TransformerBlock"

TERMINAL_STYLE = """
body { margin: 0; padding: 18px 22px; background: #0d1117; color: #e6edf3; }
pre { margin: 0; font: 15px/1.45 'DejaVu Sans Mono', monospace; }
.green { color: #3fb950; } .red { color: #f85149; } .brown { color: #d29922; }
.cyan { color: #39c5cf; } .blue { color: #58a6ff; } .bold { font-weight: bold; }
"""

PAGE_TEMPLATE = """<!doctype html><meta charset="utf-8">
<link rel="stylesheet" href="file://{modules}/github-markdown-css/github-markdown-light.css">
<style>body {{ margin: 0; padding: 32px 40px; }} .mermaid {{ background: #f6f8fa; }}</style>
<article class="markdown-body"></article>
<script src="file://{modules}/marked/lib/marked.umd.js"></script>
<script src="file://{modules}/mermaid/dist/mermaid.min.js"></script>
<script type="text/plain" id="text">{text}</script>
<script>
  const article = document.querySelector('article');
  const decoder = document.createElement('textarea');
  decoder.innerHTML = document.getElementById('text').textContent;
  article.innerHTML = marked.parse(decoder.value);
  for (const code of article.querySelectorAll('code.language-mermaid')) {{
    const diagram = document.createElement('div');
    diagram.className = 'mermaid';
    diagram.textContent = code.textContent;
    code.parentNode.replaceWith(diagram);
  }}
  mermaid.initialize({{startOnLoad: false, maxTextSize: 500000, maxEdges: 5000}});
  mermaid.run();
</script>
"""


def run_in_terminal(command):
    """The terminal screen after `command` has run, with its prompt."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    shown = [pathlib.Path(command[0]).name, *command[1:]]
    stream.feed(("$ " + " ".join(shown) + "\r\n").encode())
    child, descriptor = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execv(command[0], command)
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    while True:
        try:
            data = os.read(descriptor, 4096)
        except OSError:
            break
        if not data:
            break
        stream.feed(data)
    os.waitpid(child, 0)
    return screen


def to_html(screen):
    lines = []
    for row in range(screen.lines):
        line = ""
        for column in range(screen.columns):
            cell = screen.buffer[row][column]
            classes = " ".join(([cell.fg] if cell.fg != "default" else []) +
                               (["bold"] if cell.bold else []))
            text = html.escape(cell.data)
            line += f'<span class="{classes}">{text}</span>' if classes else text
        lines.append(line.rstrip())
    while lines and not lines[-1]:
        lines.pop()
    return (f'<!doctype html><meta charset="utf-8"><style>{TERMINAL_STYLE}</style>'
            f'<pre>{chr(10).join(lines)}</pre>'), len(lines)


def screenshot(chromium, page, picture, width, height):
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--allow-file-access-from-files", f"--user-data-dir={profile}",
             "--virtual-time-budget=15000", f"--window-size={width},{height}",
             f"--screenshot={picture}", page.as_uri()],
            check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description="Makes the pictures of the README.")
    parser.add_argument("--harness", type=pathlib.Path, default=ROOT / "bazel-bin/harness/harness")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "reports/reference")
    parser.add_argument("--chromium", default="chromium")
    options = parser.parse_args()
    modules = os.environ.get("NODE_MODULES")
    if not modules:
        sys.exit("update_pictures.py: NODE_MODULES is not set; run: npm install --prefix DIR marked "
                 "github-markdown-css mermaid, and set NODE_MODULES=DIR/node_modules")

    harness, output = options.harness.resolve(), options.output.resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        work = pathlib.Path(folder)
        screen = run_in_terminal([str(harness), "--output", "reports"])
        text, num_lines = to_html(screen)
        (work / "terminal.html").write_text(text)
        screenshot(options.chromium, work / "terminal.html", output / "terminal.png", 860,
                   36 + 22 * num_lines)
        text = html.escape((work / "reports" / f"{PAGE}.md").read_text())
        # Beside the page, so that its links to pictures work.
        page = work / "reports" / "page.html"
        page.write_text(PAGE_TEMPLATE.format(modules=pathlib.Path(modules).resolve(), text=text))
        screenshot(options.chromium, page, output / "page.png", 1060, 1080)
        screenshot(options.chromium, work / "reports" / "index.html", output / "index.png",
                   1280, 860)


if __name__ == "__main__":
    main()
