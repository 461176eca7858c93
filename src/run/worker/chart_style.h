// How charts of workers look: matplotlib reads this file (MATPLOTLIBRC), so that pictures that a worker saves have the
// colours of the pages without a request. The colours are those of web/src/style/base.css in the light theme;
// tests/e2e/chart_style.py compares them. Not needed by programs without matplotlib.
#pragma once

#include <string_view>

namespace hone::run {

constexpr std::string_view chart_style_path = "/hone/matplotlibrc";

constexpr std::string_view chart_style = R"(# Charts in the colours of Hone's pages. An own matplotlibrc in the
# working directory, plt.style.use() or MATPLOTLIBRC in the preset replaces it.
figure.figsize: 8, 4.5
figure.dpi: 144
figure.facecolor: ffffff
figure.titlesize: 14
figure.constrained_layout.use: True
savefig.dpi: 144
savefig.facecolor: ffffff
savefig.bbox: tight
font.family: sans-serif
font.size: 11
text.color: 1a1e22
axes.facecolor: ffffff
axes.edgecolor: cfd4d9
axes.labelcolor: 535a63
axes.labelsize: 11
axes.titlesize: 12
axes.titlelocation: left
axes.titleweight: bold
axes.titlecolor: 1a1e22
axes.spines.top: False
axes.spines.right: False
axes.axisbelow: True
axes.grid: True
axes.grid.axis: y
axes.prop_cycle: cycler('color', ['2f6fce', 'b45f10', '1d8259', '8446c6', 'bd3a79', '8c7a12', '0d8190', '6b7280'])
grid.color: e6e8ea
grid.linewidth: 0.8
xtick.color: 646b74
ytick.color: 646b74
xtick.labelsize: 10
ytick.labelsize: 10
lines.linewidth: 1.8
lines.markersize: 5
patch.edgecolor: ffffff
legend.frameon: False
legend.fontsize: 10
svg.fonttype: none
)";

} // namespace hone::run
