"""The style of charts inside of a run: matplotlib finds it without a request, in the colours of the pages."""

import pathlib
import re

from runs import Shop, shell

BASE_CSS = pathlib.Path(__file__).resolve().parents[2] / "web/src/style/base.css"

# What matplotlib 3.5 to 3.11 take without a warning.
KEYS = {
    "axes.axisbelow", "axes.edgecolor", "axes.facecolor", "axes.grid", "axes.grid.axis", "axes.labelcolor", "axes.labelsize",
    "axes.prop_cycle", "axes.spines.right", "axes.spines.top", "axes.titlecolor", "axes.titlelocation", "axes.titlesize",
    "axes.titleweight", "figure.constrained_layout.use", "figure.dpi", "figure.facecolor", "figure.figsize", "figure.titlesize",
    "font.family", "font.size", "grid.color", "grid.linewidth", "legend.fontsize", "legend.frameon", "lines.linewidth",
    "lines.markersize", "patch.edgecolor", "savefig.bbox", "savefig.dpi", "savefig.facecolor", "svg.fonttype", "text.color",
    "xtick.color", "xtick.labelsize", "ytick.color", "ytick.labelsize",
}  # fmt: skip


def light(name):
    """A colour of the pages in the light theme."""
    return re.search(rf"--{name}: light-dark\(#([0-9a-f]{{6}}),", BASE_CSS.read_text()).group(1)


def test_a_run_has_the_style_of_charts_and_a_preset_can_replace_it(binary, stack):
    shop = Shop(binary, stack)
    script = 'echo "at $MATPLOTLIBRC"; cat "$MATPLOTLIBRC"; echo x 2>/dev/null >> "$MATPLOTLIBRC" || echo "read only"'
    run = shop.until(shop.start(*shell(script))["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    lines = "\n".join(shop.texts(run["id"], "message")).splitlines()
    assert lines[0] == "at /hone/matplotlibrc" and lines[-1] == "read only", lines
    style = dict(line.split(": ", 1) for line in lines[1:-1] if not line.startswith("#"))
    assert set(style) == KEYS, set(style) ^ KEYS
    cycle = re.findall(r"[0-9a-f]{6}", style["axes.prop_cycle"])
    assert cycle == [light(f"g{number}") for number in range(1, 9)], cycle
    for key, name in (
        ("figure.facecolor", "ground"),
        ("text.color", "text"),
        ("axes.labelcolor", "soft"),
        ("axes.edgecolor", "line-strong"),
        ("grid.color", "line"),
        ("xtick.color", "faint"),
    ):
        assert style[key] == light(name), (key, style[key], light(name))
    assert style["savefig.dpi"] == "144" and style["axes.spines.top"] == "False", style

    own = shop.start(*shell('echo "at $MATPLOTLIBRC"'), sandbox={"env": {"MATPLOTLIBRC": "/workspace/mine"}})
    own = shop.until(own["id"])
    assert shop.texts(own["id"], "message") == ["at /workspace/mine"], shop.texts(own["id"])
