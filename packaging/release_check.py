#!/usr/bin/env python3
"""Refuses a release whose tag, version, changelog, address and contact do not match.

    packaging/release_check.py TAG [ADDRESS]

TAG is `v` followed by the version. ADDRESS is the address of the repository that makes the release.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def faults(tag: str, address: str | None) -> list[str]:
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    packages = json.loads(
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    crate = next(package for package in packages if package["name"] == "urlspool")
    wheel = next(package for package in packages if package["name"] == "urlspool-python")
    version = crate["version"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but Cargo.toml has version {version}")
    if wheel["version"] != version:
        found.append(f"python/Cargo.toml has version {wheel['version']}, but Cargo.toml {version}")
    heading = re.search(
        rf"^## \[?{re.escape(version)}\]?(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    if heading is None:
        found.append(f"CHANGELOG.md has no section {version}")
    elif not re.search(r"\b\d{4}-\d{2}-\d{2}\b", heading[1]):
        found.append(f"CHANGELOG.md: the section {version} has no date (YYYY-MM-DD)")
    if f"version: {version}\n" not in (ROOT / "CITATION.cff").read_text():
        found.append(f"CITATION.cff does not have version {version}")
    repository = crate["repository"] or ""
    if not repository.startswith("https://"):
        found.append("Cargo.toml: `repository` in [workspace.package] is not filled in")
    elif address is not None and repository.rstrip("/") != address.rstrip("/"):
        found.append(f"Cargo.toml: `repository` is {repository}, but this is {address}")
    if "@" not in crate["metadata"]["contact"]["security"]:
        found.append("Cargo.toml: `security` in [package.metadata.contact] is not filled in")
    return found


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    found = faults(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)
    for fault in found:
        print(f"release_check.py: {fault}", file=sys.stderr)
    sys.exit(1 if found else 0)
