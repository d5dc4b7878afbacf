#!/usr/bin/env python3
"""Writes reports/efficiency_report.md from what gerrit_analysis.py prints."""

import json
import subprocess
import sys
from pathlib import Path

ANALYSIS = Path(__file__).with_name("gerrit_analysis.py")
REPORT = Path("reports/efficiency_report.md")


def render(figures: dict) -> str:
    owners = "\n".join(f"| {owner} | {count} |" for owner, count in figures["byOwner"].items())
    waiting = ", ".join(str(number) for number in figures["waiting"]) or "none"
    return f"""# Review efficiency: {figures["project"]}

| figure | value |
|---|---|
| changes | {figures["changes"]} |
| merged | {figures["merged"]} ({figures["mergeRate"]:.0%}) |
| median hours to the first review | {figures["medianHoursToFirstReview"]} |
| median hours to the end | {figures["medianHoursToClose"]} |
| patch sets per change | {figures["meanPatchSets"]} |

The slowest change was {figures["slowest"]["id"]}: {figures["slowest"]["subject"]}.
Still without a review: {waiting}.

| owner | changes |
|---|---|
{owners}
"""


if __name__ == "__main__":
    printed = subprocess.run([sys.executable, ANALYSIS], check=True, capture_output=True, text=True).stdout
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(render(json.loads(printed)), encoding="utf-8")
    print(f"Wrote {REPORT}")
