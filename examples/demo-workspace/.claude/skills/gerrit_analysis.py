#!/usr/bin/env python3
"""Reads data/mock_gerrit_data.json and prints review figures as JSON; --page PATH brings a page up to date with them."""

import json
import re
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from statistics import median

DATA = Path("data/mock_gerrit_data.json")


def hours(start: str, end: str) -> float:
    def read(text: str) -> datetime:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))

    return (read(end) - read(start)).total_seconds() / 3600


def analyse(changes: list[dict]) -> dict:
    closed = [change for change in changes if change["closed"]]
    reviewed = [change for change in changes if change["firstReview"]]
    merged = [change for change in changes if change["status"] == "MERGED"]
    owners: dict[str, int] = defaultdict(int)
    for change in changes:
        owners[change["owner"]] += 1
    slowest = max(closed, key=lambda change: hours(change["created"], change["closed"]))
    return {
        "changes": len(changes),
        "merged": len(merged),
        "mergeRate": round(len(merged) / len(changes), 3),
        "medianHoursToFirstReview": round(median(hours(c["created"], c["firstReview"]) for c in reviewed), 2),
        "medianHoursToClose": round(median(hours(c["created"], c["closed"]) for c in closed), 2),
        "meanPatchSets": round(sum(c["patchSets"] for c in changes) / len(changes), 2),
        "byOwner": dict(sorted(owners.items())),
        "slowest": {"id": slowest["id"], "subject": slowest["subject"]},
        "waiting": [change["id"] for change in changes if not change["firstReview"]],
    }


def update(page: Path, figures: dict) -> None:
    """Replaces the figures in the table of the page, and the numbers at its end."""
    text = page.read_text(encoding="utf-8")
    rows = {
        "changes": figures["changes"],
        "merged": f"{figures['merged']} ({figures['mergeRate']:.0%})",
        "median hours to the first review": figures["medianHoursToFirstReview"],
    }
    for name, value in rows.items():
        text = re.sub(rf"^\| {name} \| .* \|$", f"| {name} | {value} |", text, flags=re.MULTILINE)
    waiting = ", ".join(str(number) for number in figures["waiting"]) or "none"
    text = re.sub(r"(?<=^## Waiting for a review\n\n).*", f"{waiting}\n", text, flags=re.MULTILINE | re.DOTALL)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    data = json.loads(DATA.read_text(encoding="utf-8"))
    figures = analyse(data["changes"])
    if sys.argv[1:2] == ["--page"]:
        update(Path(sys.argv[2]), figures)
    print(json.dumps({"project": data["project"], **figures}, indent=2))
