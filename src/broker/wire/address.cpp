// Addresses that the broker never connects to.
#include "broker/wire/dial.h"

namespace hone::broker {

AddressCheck default_address_check() {
    return [](const net::Endpoint& endpoint, Reach reach) -> std::optional<std::string_view> {
        if (const auto why = refused_range(endpoint, reach)) return why;
        if (reach == Reach::public_only && is_own_address(endpoint)) return "address of this machine";
        return std::nullopt;
    };
}

} // namespace hone::broker
