// What the broker would say to a request, without sending it: for `hone broker explain` and for people who write rules.
// Pure, any thread.
#pragma once

#include "broker/egress/policy.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

struct Explanation {
    std::string method;
    std::string url; // in the broker's own spelling
    bool allowed = false;
    std::string rule;
    std::string reason;
    bool inspected = false;
    std::vector<std::string> secrets;
    static constexpr Pack fields{
        Field{"method", &Explanation::method, ""},
        Field{"url", &Explanation::url, "Address as the broker parses it: host in lower case, without the query."},
        Field{"allowed", &Explanation::allowed,
              "Whether the rules allow it. A name that resolves to a private address is rejected in any case."},
        Field{"rule", &Explanation::rule, "Rule that decides."},
        Field{"reason", &Explanation::reason, "Reason, in one sentence."},
        Field{"inspected", &Explanation::inspected, "The broker reads method and path; else TLS is forwarded unread."},
        Field{"secrets", &Explanation::secrets, "Names of the secrets that the broker may add to this request."},
    };
};

// `url`: http, https, ws or wss. Errors: it is no such URL.
Result<Explanation> explain(const Policy& policy, std::string_view method, std::string_view url);

// "pypi.org", "*.example.com:8443", "http://mirror.example.com/simple", for rules that people write by hand.
Result<skill::HostRule> parse_host_rule(std::string_view text);

} // namespace hone::broker
