// What an S3 server sends: whatever comes, the tree stays within its bounds, and written again it reads the
// same.
#include "objects/xml.h"
#include "objects/s3_responses.h"

using namespace hone::objects;

namespace {

std::string printed(const XmlElement& element) {
    std::string text = "<" + element.name + ">" + escape_xml(element.text);
    for (const XmlElement& child : element.children) text += printed(child);
    return text + "</" + element.name + ">";
}

int depth_of(const XmlElement& element) {
    int deepest = 0;
    for (const XmlElement& child : element.children) deepest = std::max(deepest, depth_of(child));
    return deepest + 1;
}

bool is_nameable(const XmlElement& element) {
    for (const XmlElement& child : element.children)
        if (!is_nameable(child)) return false;
    return !element.name.empty(); // "a:" has a prefix and no name
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_error(text);
    if (const auto listed = read_listing(text); listed.ok())
        for (const ObjectInfo& object : listed.value().objects) CHECK_OR_ABORT(object.bytes >= 0);
    (void)read_uploads(text).ok();
    (void)read_upload_id(text).ok();
    const auto parsed = parse_xml(text);
    if (!parsed.ok()) return 0;
    CHECK_OR_ABORT(depth_of(parsed.value()) <= 8);
    if (!is_nameable(parsed.value())) return 0;
    const std::string once = printed(parsed.value());
    const auto again = parse_xml(once);
    CHECK_OR_ABORT(again.ok() && printed(again.value()) == once);
    return 0;
}
