"""The biggest mistakes in a folder of games, as a table and as CSV.

    python examples/biggest_mistakes.py games/ --visits 100 --csv mistakes.csv

With pandas: `pandas.DataFrame(tengen.analyse("games/"))`; with polars: `polars.DataFrame(...)`.
"""

from __future__ import annotations

import argparse
import csv

import tengen

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", help="SGF files and folders")
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--csv", help="write all moves to this file")
    arguments = parser.parse_args()

    rows = tengen.analyse(arguments.sources, visits=arguments.visits, progress=True)

    if arguments.csv:
        with open(arguments.csv, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    # Points lost are those of the side that moved, so they can be compared between colours.
    for row in sorted(rows, key=lambda row: -row["points_lost"])[:10]:
        print(
            f"{row['source']}, move {row['move_number']}: {row['color']} {row['move']} lost "
            f"{row['points_lost']:.1f} points; better was {row['best_line']}"
        )
