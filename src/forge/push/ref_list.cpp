#include "forge/push/ref_list.h"

#include "base/text.h"
#include "forge/git.h"

#include <algorithm>

namespace hone::forge {

namespace {

bool is_branch_or_tag(std::string_view name) {
    return name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
}

void sort_refs(std::vector<Ref>& refs) {
    std::sort(refs.begin(), refs.end(), [](const Ref& a, const Ref& b) { return a.name < b.name; });
    refs.erase(std::unique(refs.begin(), refs.end(), [](const Ref& a, const Ref& b) { return a.name == b.name; }),
               refs.end());
}

// The first line, without its end; takes it away.
std::string_view take_line(std::string_view& text) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

} // namespace

RefList parse_for_each_ref(std::string_view text) {
    RefList list;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line.empty()) continue;
        const size_t first = line.find(' ');
        const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
        Ref ref;
        if (second != std::string_view::npos) {
            ref.object = line.substr(0, first);
            ref.commit = line.substr(first + 1, second - first - 1);
            ref.name = line.substr(second + 1);
            if (ref.commit.empty()) ref.commit = ref.object;
        }
        if (list.refs.size() < most_refs && is_object_name(ref.object) && is_object_name(ref.commit) &&
            is_ref_name(ref.name) && is_branch_or_tag(ref.name))
            list.refs.push_back(std::move(ref));
        else
            ++list.left_out;
    }
    sort_refs(list.refs);
    return list;
}

std::string write_packed_refs(const std::vector<Ref>& refs) {
    std::vector<Ref> sorted = refs;
    sort_refs(sorted);
    std::string text = "# pack-refs with: peeled fully-peeled sorted \n";
    for (const Ref& ref : sorted) {
        text += ref.object + " " + ref.name + "\n";
        if (ref.commit != ref.object) text += "^" + ref.commit + "\n";
    }
    return text;
}

Result<std::vector<Ref>> parse_packed_refs(std::string_view text) {
    std::vector<Ref> refs;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line.empty() || line.front() == '#') continue;
        if (line.front() == '^') {
            if (refs.empty() || !is_object_name(line.substr(1))) return corrupt("packed-refs is damaged");
            refs.back().commit = line.substr(1);
            continue;
        }
        const size_t space = line.find(' ');
        if (space == std::string_view::npos) return corrupt("packed-refs is damaged");
        Ref ref{std::string(line.substr(space + 1)), std::string(line.substr(0, space)), {}};
        if (!is_object_name(ref.object) || !is_ref_name(ref.name)) return corrupt("packed-refs is damaged");
        ref.commit = ref.object;
        refs.push_back(std::move(ref));
    }
    sort_refs(refs);
    return refs;
}

std::string parse_head(std::string_view text) {
    const std::string_view line = take_line(text);
    constexpr std::string_view before = "ref: ";
    constexpr std::string_view after = "\tHEAD";
    if (!line.starts_with(before) || !line.ends_with(after)) return {};
    const std::string_view name = line.substr(before.size(), line.size() - before.size() - after.size());
    return is_ref_name(name) && name.starts_with("refs/heads/") ? std::string(name) : std::string();
}

const Ref* find_ref(const std::vector<Ref>& refs, std::string_view name) {
    const auto found = std::lower_bound(refs.begin(), refs.end(), name,
                                        [](const Ref& ref, std::string_view wanted) { return ref.name < wanted; });
    return found != refs.end() && found->name == name ? &*found : nullptr;
}

} // namespace hone::forge
