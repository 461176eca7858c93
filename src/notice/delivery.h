// One notice to one destination and the outcome so far. Plain data.
#pragma once

#include "notice/notices.h"

namespace hone::notice {

struct DestinationTag {
    static constexpr std::string_view kind = "dest";
};
using DestinationId = Id<DestinationTag>;

struct DeliveryTag {
    static constexpr std::string_view kind = "delivery";
};
using DeliveryId = Id<DeliveryTag>;

enum class DeliveryState {
    pending,  // not accepted yet; the next attempt is at next_at
    sent,     // the receiver accepted it
    given_up, // a day of trying
};
constexpr auto enum_names(DeliveryState) {
    return std::array{EnumName{DeliveryState::pending, "pending"}, EnumName{DeliveryState::sent, "sent"},
                      EnumName{DeliveryState::given_up, "given_up"}};
}

// When a digest is sent: every day at this time (UTC).
constexpr Duration digest_time = std::chrono::hours(7);
inline Time next_digest(Time after) {
    const Time today = std::chrono::floor<std::chrono::days>(after) + digest_time;
    return today > after ? today : today + std::chrono::hours(24);
}

struct Delivery {
    DeliveryId id;
    NoticeId notice_id;
    DestinationId destination_id;
    Kind kind = Kind::run_finished;
    std::string title;
    DeliveryState state = DeliveryState::pending;
    int64_t attempts = 0;
    std::optional<Time> next_at;
    std::string problem;
    Time created_at{};
    std::optional<Time> finished_at;
    static constexpr Pack fields{
        Field{"id", &Delivery::id, "Also the X-Hone-Delivery header of webhooks."},
        Field{"notice_id", &Delivery::notice_id, ""},
        Field{"destination_id", &Delivery::destination_id, ""},
        Field{"kind", &Delivery::kind, ""},
        Field{"title", &Delivery::title, ""},
        Field{"state", &Delivery::state, ""},
        Field{"attempts", &Delivery::attempts, ""},
        Field{"next_at", &Delivery::next_at, "When the next attempt is; null when there is none."},
        Field{"problem", &Delivery::problem, "Why the last attempt failed; empty when it did not."},
        Field{"created_at", &Delivery::created_at, ""},
        Field{"finished_at", &Delivery::finished_at, ""},
    };
};

} // namespace hone::notice
