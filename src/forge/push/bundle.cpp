#include "forge/push/bundle.h"

#include "base/text.h"
#include "forge/git.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::forge {

namespace {

constexpr std::string_view version_2 = "# v2 git bundle\n";
constexpr std::string_view version_3 = "# v3 git bundle\n";
constexpr std::string_view heads = "refs/heads/";
constexpr size_t name_length = 40; // of an object, SHA-1
constexpr size_t most_needed = 500;
constexpr size_t most_messages = 16 << 10;

bool is_sha1(std::string_view text) {
    return text.size() == name_length && is_object_name(text);
}

Result<> read_capability(std::string_view line) {
    if (line == "object-format=sha1") return {};
    if (line.starts_with("filter=")) return invalid("a bundle of a partial clone is not taken");
    return invalid("the bundle needs " + std::string(truncate_utf8(repair_utf8(line), 60)) +
                   ", which is not supported");
}

Result<> read_bundle_line(std::string_view line, BundleHead& head) {
    if (line.front() == '-') { // "-COMMIT subject"
        const std::string_view object = line.substr(1, name_length);
        if (!is_sha1(object)) return invalid("this is not a git bundle");
        if (head.needed.size() == most_needed)
            return too_large(fmt::format("a bundle needs at most {} commits", most_needed));
        head.needed.emplace_back(object);
        return {};
    }
    const std::string_view object = line.substr(0, std::min(line.size(), name_length));
    if (!is_sha1(object) || line.size() < name_length + 2 || line[name_length] != ' ')
        return invalid("this is not a git bundle");
    const std::string_view name = line.substr(name_length + 1);
    if (!is_ref_name(name)) return invalid("the bundle names an invalid ref");
    if (head.refs.size() == most_push_commands)
        return too_large(fmt::format("a bundle has at most {} branches", most_push_commands));
    head.refs.push_back({std::string(name), std::string(object)});
    return {};
}

// The packet at the beginning; nothing when there is none, or a flush.
std::string_view take_packet(std::string_view& rest) {
    if (rest.size() < 4) return rest = {};
    size_t length = 0;
    for (const char c : rest.substr(0, 4)) {
        const char* digits = "0123456789abcdef";
        const size_t digit = std::string_view(digits).find(c);
        if (digit == std::string_view::npos) return rest = {};
        length = length * 16 + digit;
    }
    if (length < 4 || length > rest.size()) {
        rest.remove_prefix(4); // a flush, or the end
        return {};
    }
    const std::string_view content = rest.substr(4, length - 4);
    rest.remove_prefix(length);
    return content;
}

void read_report_line(std::string_view line, PushReport& report) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    const auto after = [&](std::string_view word) { return repair_utf8(line.substr(word.size())); };
    if (line.starts_with("unpack ")) report.unpacked = after("unpack ");
    if (line.starts_with("ok ")) report.taken.push_back(after("ok "));
    if (!line.starts_with("ng ")) return;
    const std::string rest = after("ng ");
    const size_t space = std::min(rest.find(' '), rest.size());
    report.refused.emplace_back(rest.substr(0, space), rest.substr(std::min(rest.size(), space + 1)));
}

} // namespace

Result<BundleHead> read_bundle_head(std::string_view bytes) {
    BundleHead head;
    const bool is_third = bytes.starts_with(version_3);
    if (!is_third && !bytes.starts_with(version_2)) return invalid("this is not a git bundle");
    head.used = version_2.size();
    for (;;) {
        const size_t end = bytes.find('\n', head.used);
        if (end == std::string_view::npos || end > longest_push_head)
            return end == std::string_view::npos ? invalid("the bundle ends in its head")
                                                 : too_large("the bundle names too much");
        const std::string_view line = bytes.substr(head.used, end - head.used);
        head.used = end + 1;
        if (line.empty()) break;
        if (is_third && line.front() == '@')
            TRY(read_capability(line.substr(1)));
        else
            TRY(read_bundle_line(line, head));
    }
    if (head.refs.empty()) return invalid("the bundle has no branch");
    if (!bytes.substr(head.used).starts_with("PACK")) return invalid("the bundle has no pack");
    return head;
}

Result<std::vector<BundleRef>> branches_of(const BundleHead& head, std::string_view prefix) {
    std::vector<BundleRef> branches;
    for (const BundleRef& ref : head.refs) {
        if (ref.name == "HEAD") continue;
        if (!ref.name.starts_with(heads)) return invalid("a bundle has branches only, not " + ref.name);
        const bool is_own = ref.name.starts_with(prefix);
        const std::string name = is_own ? ref.name : std::string(prefix) + ref.name.substr(heads.size());
        if (!is_ref_name(name) || name.size() == prefix.size()) return invalid("the bundle names an invalid branch");
        if (std::ranges::find(branches, name, &BundleRef::name) != branches.end())
            return invalid("the bundle names a branch twice");
        branches.push_back({name, ref.object});
    }
    if (branches.empty()) branches.push_back({std::string(prefix) + "work", head.refs.front().object});
    return branches;
}

PushReport read_push_report(std::string_view bytes) {
    PushReport report;
    std::string lines;
    while (!bytes.empty()) {
        const std::string_view packet = take_packet(bytes);
        if (packet.empty()) continue;
        if (packet.front() == '\x01') lines += packet.substr(1);
        if (packet.front() == '\x02' || packet.front() == '\x03') report.messages += packet.substr(1);
    }
    for (std::string_view rest = lines; !rest.empty();) read_report_line(take_packet(rest), report);
    report.messages = truncate_utf8(repair_utf8(trim(report.messages)), most_messages);
    return report;
}

} // namespace hone::forge
