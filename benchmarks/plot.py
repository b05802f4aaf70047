# SPDX-License-Identifier: Apache-2.0
"""The picture: one bar a cell, how often as fast as the best peer, and a line at 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["draw"]

_COLOURS = {"PyTorch": "#ee4c2c", "oneDNN": "#0071c5", "NumPy": "#4dabcf"}
_DTYPES = ("float32", "float16", "bfloat16", "float64")


def draw(records: list[dict[str, Any]], path: Path) -> bool:
    """Draw the cells, a panel for each dtype; False without matplotlib."""
    try:
        import matplotlib as mpl  # noqa: PLC0415  # optional, and slow to import

        mpl.use("Agg")
        from matplotlib import pyplot as plt  # noqa: PLC0415
        from matplotlib.patches import Patch  # noqa: PLC0415
    except ImportError:
        return False
    panels = [(name, _sorted(records, name)) for name in _DTYPES]
    panels = [(name, cells) for name, cells in panels if cells]
    if not panels:
        return False
    figure, axes = plt.subplots(len(panels), 1, figsize=(14, 2.6 * len(panels)), squeeze=False)
    ratios = [record["ratio"] for _, cells in panels for record in cells]
    low, high = min(0.5, *ratios) / 1.2, max(4.0, *ratios) * 1.5
    ticks = [2.0**power for power in range(-8, 12) if low <= 2.0**power <= high]
    for axis, (name, cells) in zip(axes[:, 0], panels, strict=True):
        colours = [_COLOURS[record["best_peer"]] for record in cells]
        # From the line at 1 up or down, so that a cell below it cannot hide.
        heights = [record["ratio"] - 1.0 for record in cells]
        axis.bar(range(len(cells)), heights, bottom=1.0, color=colours)
        axis.axhline(1.0, color="black", linewidth=1)
        axis.set_yscale("log", base=2)
        axis.set_ylim(low, high)
        axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_xlim(-1, len(cells))
        axis.set_xticks([])
        axis.set_ylabel(f"{name}\nbest peer / ours")
        axis.set_xlabel(f"{len(cells)} cells, sorted", fontsize=8)
    handles = [Patch(color=colour, label=name) for name, colour in _COLOURS.items()]
    axes[0, 0].legend(handles=handles, title="best peer of the cell", ncols=3, loc="upper left")
    figure.suptitle("Softmax family on this machine: above 1 is faster than the best peer")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return True


def _sorted(records: list[dict[str, Any]], dtype: str) -> list[dict[str, Any]]:
    cells = [r for r in records if r["dtype"] == dtype and r["ratio"] is not None]
    return sorted(cells, key=lambda record: record["ratio"])
