#include "cli/terminal/waterfall.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hone::cli {

namespace {

// Indentation beyond this would push the names off the screen.
constexpr size_t drawn_depth = 12;

class Arranger {
public:
    Arranger(const std::vector<WaterfallSpan>& spans, size_t depth) : m_spans(spans), m_depth(depth) {
        std::unordered_map<std::string_view, size_t> places;
        for (size_t i = 0; i < spans.size(); ++i) places.emplace(spans[i].id, i);
        m_children.resize(spans.size());
        for (size_t i = 0; i < spans.size(); ++i) {
            const auto parent = places.find(spans[i].parent_id);
            if (spans[i].parent_id.empty() || parent == places.end() || parent->second == i)
                m_roots.push_back(i);
            else
                m_children[parent->second].push_back(i);
        }
        sort_by_start(m_roots);
        for (auto& children : m_children) sort_by_start(children);
        m_seen.resize(spans.size());
    }

    std::vector<WaterfallRow> rows() {
        for (size_t i = 0; i < m_roots.size(); ++i) draw(m_roots[i]);
        // What is left is in a cycle of parents: each cycle is cut at its earliest span.
        std::vector<size_t> left;
        for (size_t i = 0; i < m_spans.size(); ++i)
            if (!m_seen[i]) left.push_back(i);
        sort_by_start(left);
        for (const size_t span : left)
            if (!m_seen[span]) draw(span);
        return std::move(m_rows);
    }

private:
    struct Visit {
        size_t span;
        size_t depth;
        std::string prefix; // of its children
        std::string branch;
    };

    void sort_by_start(std::vector<size_t>& places) const {
        std::sort(places.begin(), places.end(), [&](size_t a, size_t b) {
            return std::pair(m_spans[a].start_ns, a) < std::pair(m_spans[b].start_ns, b);
        });
    }

    // A stack of our own: a trace may be one chain of 50,000 spans.
    void draw(size_t root) {
        std::vector<Visit> waiting;
        waiting.push_back({root, 0, "", ""});
        size_t hidden_below = 0; // row that counts what is left out
        while (!waiting.empty()) {
            Visit visit = std::move(waiting.back());
            waiting.pop_back();
            if (m_seen[visit.span]) continue;
            m_seen[visit.span] = true;
            if (visit.depth <= m_depth) {
                hidden_below = m_rows.size();
                m_rows.push_back({visit.span, visit.depth, std::move(visit.branch), 0});
            } else {
                ++m_rows[hidden_below].hidden;
            }
            push_children(visit, waiting);
        }
    }

    void push_children(const Visit& visit, std::vector<Visit>& waiting) const {
        const auto& children = m_children[visit.span];
        const bool is_drawn = visit.depth < drawn_depth;
        for (size_t i = children.size(); i-- > 0;) {
            const bool is_last = i + 1 == children.size();
            Visit child{children[i], visit.depth + 1, visit.prefix, visit.prefix};
            if (is_drawn) {
                child.branch += is_last ? "└─ " : "├─ ";
                child.prefix += is_last ? "   " : "│  ";
            } else {
                child.branch += "· ";
            }
            waiting.push_back(std::move(child));
        }
    }

    const std::vector<WaterfallSpan>& m_spans;
    const size_t m_depth;
    std::vector<size_t> m_roots;
    std::vector<std::vector<size_t>> m_children;
    std::vector<bool> m_seen;
    std::vector<WaterfallRow> m_rows;
};

} // namespace

Waterfall arrange(const std::vector<WaterfallSpan>& spans, size_t depth) {
    Waterfall waterfall;
    if (spans.empty()) return waterfall;
    waterfall.start_ns = INT64_MAX;
    waterfall.end_ns = INT64_MIN;
    for (const auto& span : spans) {
        waterfall.start_ns = std::min(waterfall.start_ns, span.start_ns);
        waterfall.end_ns = std::max(waterfall.end_ns, span.start_ns + span.duration_ns);
    }
    waterfall.rows = Arranger(spans, depth).rows();
    return waterfall;
}

std::string waterfall_bar(const Waterfall& waterfall, const WaterfallSpan& span, size_t width) {
    if (width == 0) return "";
    const auto whole = static_cast<double>(std::max<int64_t>(1, waterfall.end_ns - waterfall.start_ns));
    const auto column = [&](int64_t ns) {
        const double place = static_cast<double>(ns - waterfall.start_ns) / whole * static_cast<double>(width);
        return std::clamp(place, 0.0, static_cast<double>(width));
    };
    const size_t first = std::min(static_cast<size_t>(column(span.start_ns)), width - 1);
    const auto last = static_cast<size_t>(std::ceil(column(span.start_ns + span.duration_ns)));
    const size_t length = std::max<size_t>(1, last > first ? last - first : 0);
    std::string bar(first, ' ');
    for (size_t i = 0; i < length; ++i) bar += "━";
    return bar + std::string(width - first - length, ' ');
}

} // namespace hone::cli
