// A notice as the requests of services that people are called by: Slack, Microsoft Teams, Discord, PagerDuty Events v2,
// Opsgenie, and the signed JSON of a webhook. Pure functions; texts of a notice are data in each: cut to the service's
// limits and without its mark-up. Any thread.
#pragma once

#include "net/client/client.h"
#include "notice/destinations.h"

namespace hone::notice {

// What is to be sent; the caller adds addresses and timeouts.
net::ClientRequest request_for(const Target& target, const Message& message, Time now);

// Names one incident for services that open and close them: the same for a monitor that triggers and recovers.
std::string incident_key(const Message& message);
// A notice that something is right again.
bool is_recovery(const Message& message);

// At most `units` UTF-16 code units, ending in … when it was cut.
std::string cut_units(std::string_view text, size_t units);

std::string discord_body(const Message& message);
std::string teams_body(const Message& message);
std::string pagerduty_body(const Message& message, std::string_view routing_key);
std::string opsgenie_body(const Message& message);

} // namespace hone::notice
