// A Java key store (JKS) of trusted certificates, because Java reads no PEM bundle. Pure, any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace hone::broker {

// From PEM text with any number of certificates. The password protects nothing; Java needs one.
Result<std::string> make_java_trust_store(const std::string& authorities, std::string_view password);

} // namespace hone::broker
