"""Charts as SVG: small, the same bytes for the same numbers, readable on light and dark pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from bench.findings import Chart

# Claim apart also by those who see no red or green (Okabe and Ito), lightest last.
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442",
    "#332288", "#dddddd",
)  # fmt: skip
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "quire",
    # Text stays text: a tenth of the size, and it can be searched.
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}


def draw(chart: Chart, path: Path) -> Path:
    """Write the chart; the background is white, whatever the page's is."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
        if chart.kind == "lines":
            _lines(axes, chart)
        else:
            _bars(axes, chart)
        axes.set_title(chart.title, loc="left", fontsize=10)
        axes.set_xlabel(chart.x)
        axes.set_ylabel(chart.y)
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
        if len(chart.series) > 1:
            figure.legend(loc="outside right upper", frameon=False, fontsize=8)
        figure.savefig(path, format="svg", facecolor="white", metadata={"Date": None})
        plt.close(figure)
    return path


def _lines(axes: Axes, chart: Chart) -> None:
    for (name, points), colour in zip(chart.series.items(), _colours(chart), strict=True):
        xs, ys = [float(x) for x, _ in points], [y for _, y in points]
        axes.plot(xs, ys, marker="o", markersize=4, color=colour, label=name)
    if chart.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            axis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)


def _bars(axes: Axes, chart: Chart) -> None:
    words = list(dict.fromkeys(str(x) for points in chart.series.values() for x, _ in points))
    places = range(len(words))
    floor = [0.0] * len(words)
    width = 0.6 if chart.kind == "stacks" else 0.8 / max(1, len(chart.series))
    for index, (name, points) in enumerate(chart.series.items()):
        known = {str(x): y for x, y in points}
        heights = [known.get(word, 0.0) for word in words]
        colour = _colours(chart)[index]
        if chart.kind == "stacks":
            axes.bar(places, heights, width, bottom=floor, color=colour, label=name)
            floor = [low + high for low, high in zip(floor, heights, strict=True)]
        else:
            shift = (index - (len(chart.series) - 1) / 2) * width
            axes.bar([p + shift for p in places], heights, width, color=colour, label=name)
    if chart.logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set_xticks(list(places), words)
    if len(words) > 4:
        axes.tick_params(axis="x", labelrotation=20)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _colours(chart: Chart) -> Sequence[str]:
    return [COLOURS[index % len(COLOURS)] for index in range(len(chart.series))]
