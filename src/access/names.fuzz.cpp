// Names, addresses and cursors from outside: what is accepted keeps its promises and is accepted again.
#include "access/names.h"
#include "access/page.h"

using namespace hone;
using namespace hone::access;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto email = checked_email(text); email.ok()) {
        const std::string& value = email.value();
        CHECK_OR_ABORT(value.size() <= 254 && is_valid_utf8(value) && value.find('\0') == std::string::npos);
        const auto again = checked_email(value);
        CHECK_OR_ABORT(again.ok() && again.value() == value);
    }
    if (const auto name = checked_name("name", text); name.ok()) {
        const std::string& value = name.value();
        CHECK_OR_ABORT(!value.empty() && value.size() <= 100 && is_valid_utf8(value));
        CHECK_OR_ABORT(value.find_first_of(std::string_view("\0\n\r\x7f", 4)) == std::string::npos);
        const auto again = checked_name("name", value);
        CHECK_OR_ABORT(again.ok() && again.value() == value);
    }
    if (const auto description = checked_description(text); description.ok())
        CHECK_OR_ABORT(description.value() == text && is_valid_utf8(text));
    if (const auto place = PageRequest{10, std::string(text)}.after(); place.ok()) {
        CHECK_OR_ABORT(!place.value().empty() && place.value().size() <= 200 && is_printable_ascii(place.value()));
        CHECK_OR_ABORT(to_base64url(place.value()) == text);
    }
    return 0;
}
