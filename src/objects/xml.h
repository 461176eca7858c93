// The XML that S3 servers send, and no more of XML: elements, text, the five named entities and numbered ones.
// Declarations of types, entities of one's own, CDATA, comments and processing instructions are refused, so nothing can
// be expanded or included. Bounded in depth and in the number of elements. Pure, fuzzed, any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::objects {

struct XmlElement {
    std::string name; // without its prefix
    std::string text; // of this element alone; empty when there are elements in it
    std::vector<XmlElement> children;

    // The first child of this name; null when there is none.
    const XmlElement* find(std::string_view child) const;
    // The text of the first child of this name; empty when there is none.
    std::string_view text_of(std::string_view child) const;
};

// The root element.
Result<XmlElement> parse_xml(std::string_view text);
// Text that can stand between two tags.
std::string escape_xml(std::string_view text);

} // namespace hone::objects
