#include "automation/cron.h"

#include "base/text.h"

#include <array>
#include <bit>

namespace hone::automation {

namespace {

constexpr size_t longest_expression = 200;
constexpr int64_t day_seconds = 86'400;
constexpr int64_t furthest = 12 * 366 * day_seconds; // a leap day can be eight years away

struct FieldRule {
    std::string_view name;
    unsigned least;
    unsigned most;
    std::array<std::string_view, 12> words{}; // for `least`, `least` + 1, …
};
constexpr FieldRule second_rule{"second", 0, 59};
constexpr FieldRule minute_rule{"minute", 0, 59};
constexpr FieldRule hour_rule{"hour", 0, 23};
constexpr FieldRule day_rule{"day of month", 1, 31};
constexpr FieldRule month_rule{
    "month", 1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}};
constexpr FieldRule weekday_rule{"weekday", 0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}};

struct Nickname {
    std::string_view name;
    std::string_view meaning;
};
constexpr Nickname nicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

Error wrong(const FieldRule& rule, std::string_view part) {
    std::string message = "schedule: \"" + std::string(truncate_utf8(part, 40)) + "\" is not a " +
                          std::string(rule.name) + "; it takes " + std::to_string(rule.least) + " to " +
                          std::to_string(rule.most);
    if (!rule.words[0].empty()) message += ", names like " + std::string(rule.words[0]);
    message += ", *, ranges 1-5, steps */15 and lists 1,2";
    if (&rule == &day_rule) message += ", and L for the last day of the month";
    return invalid(message);
}

Result<unsigned> value_of(const FieldRule& rule, std::string_view text, std::string_view part) {
    const std::string word = lowercase_ascii(text);
    for (size_t i = 0; i < rule.words.size() && !rule.words[i].empty(); ++i)
        if (word == rule.words[i]) return rule.least + static_cast<unsigned>(i);
    if (text.empty() || text.size() > 2) return wrong(rule, part);
    unsigned number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return wrong(rule, part);
        number = number * 10 + static_cast<unsigned>(c - '0');
    }
    if (number < rule.least || number > rule.most) return wrong(rule, part);
    return number;
}

// "*/15", "mon-fri", "7", "10-20/3"
Result<uint64_t> part_bits(const FieldRule& rule, std::string_view part) {
    std::string_view range = part;
    unsigned step = 1;
    bool has_step = false;
    if (const size_t slash = part.find('/'); slash != part.npos) {
        range = part.substr(0, slash);
        const std::string_view text = part.substr(slash + 1);
        if (text.empty() || text.size() > 2 || text.find_first_not_of("0123456789") != text.npos)
            return wrong(rule, part);
        step = static_cast<unsigned>(std::stoul(std::string(text)));
        if (step == 0) return invalid("schedule: a step of 0 in \"" + std::string(part) + "\" never moves on");
        // "*/90" is not every ninety minutes: it would be every hour.
        if (step > rule.most + 1)
            return invalid("schedule: the step in \"" + std::string(part) + "\" is larger than a " +
                           std::string(rule.name) + " can be (" + std::to_string(rule.most) +
                           "); steps start again in each round, so it would not fire every " + std::to_string(step));
        has_step = true;
    }
    unsigned first = rule.least, last = rule.most;
    // Sunday is 0 and 7; counting the 7 in would give steps over a week a day too many.
    if (&rule == &weekday_rule) last = 6;
    if (range != "*" && range != "?") {
        const size_t dash = range.find('-');
        first = TRY(value_of(rule, range.substr(0, dash), part));
        if (dash != range.npos)
            last = TRY(value_of(rule, range.substr(dash + 1), part));
        else if (!has_step)
            last = first;
        // "fri-sun" is Friday to Sunday.
        if (&rule == &weekday_rule && dash != range.npos && last == 0 && first > 0) last = 7;
        if (first > last)
            return invalid("schedule: the range \"" + std::string(part) + "\" goes backwards; write two, with a comma");
    }
    uint64_t bits = 0;
    for (unsigned value = first; value <= last; value += step) bits |= uint64_t{1} << value;
    return bits;
}

Result<uint64_t> field_bits(const FieldRule& rule, std::string_view field) {
    uint64_t bits = 0;
    for (const std::string_view part : split(field, ',')) bits |= TRY(part_bits(rule, part));
    if (&rule == &weekday_rule && (bits >> 7 & 1) != 0) bits = (bits | 1) & 0x7F;
    return bits;
}

// The lowest set bit that is at least `from`; none: -1.
int next_bit(uint64_t bits, int64_t from) {
    if (from > 63) return -1;
    const uint64_t left = from <= 0 ? bits : bits >> from << from;
    return left == 0 ? -1 : std::countr_zero(left);
}

bool is_any(std::string_view field) {
    return field == "*" || field == "?" || field == "*/1";
}

int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

} // namespace

Result<Cron> Cron::parse(std::string_view expression) {
    expression = trim(expression);
    if (expression.empty()) return invalid("schedule is empty; write one like \"0 9 * * mon-fri\" or \"@hourly\"");
    if (expression.size() > longest_expression) return invalid("schedule is longer than 200 characters");
    if (expression.front() == '@') {
        const std::string wanted = lowercase_ascii(expression);
        for (const Nickname& nickname : nicknames)
            if (nickname.name == wanted) return parse(nickname.meaning);
        return invalid("schedule: \"" + std::string(truncate_utf8(expression, 40)) +
                       "\" is unknown; there are @hourly, @daily, @weekly, @monthly and @yearly");
    }
    std::vector<std::string_view> fields;
    for (size_t at = 0; at < expression.size();) {
        const size_t end = std::min(expression.find_first_of(" \t", at), expression.size());
        if (end > at) fields.push_back(expression.substr(at, end - at));
        at = end + 1;
    }
    if (fields.size() != 5 && fields.size() != 6)
        return invalid("schedule has " + std::to_string(fields.size()) +
                       " fields; write five (minute hour day month weekday), or six with the second first");
    Cron cron;
    size_t at = 0;
    if (fields.size() == 6) cron.m_seconds = TRY(field_bits(second_rule, fields[at++]));
    cron.m_minutes = TRY(field_bits(minute_rule, fields[at++]));
    cron.m_any_hour = is_any(fields[at]);
    cron.m_hours = TRY(field_bits(hour_rule, fields[at++]));
    cron.m_any_day = is_any(fields[at]);
    for (const std::string_view part : split(fields[at++], ',')) {
        if (equals_ignoring_case(part, "L"))
            cron.m_last_day = true;
        else
            cron.m_days |= TRY(part_bits(day_rule, part));
    }
    cron.m_months = TRY(field_bits(month_rule, fields[at++]));
    cron.m_any_weekday = is_any(fields[at]);
    cron.m_weekdays = TRY(field_bits(weekday_rule, fields[at]));
    return cron;
}

bool Cron::day_matches(int year, unsigned month, unsigned day, unsigned weekday) const {
    using namespace std::chrono;
    const auto last = year_month_day_last(std::chrono::year(year), month_day_last(std::chrono::month(month)));
    const bool by_day = (m_last_day && unsigned(last.day()) == day) || (m_days >> day & 1) != 0;
    const bool by_weekday = (m_weekdays >> weekday & 1) != 0;
    if (m_any_day) return by_weekday;
    if (m_any_weekday) return by_day;
    return by_day || by_weekday;
}

// The first second of a day, at least `from`, that matches.
std::optional<int64_t> Cron::second_of_day(int64_t from) const {
    for (int hour = next_bit(m_hours, from / 3600); hour >= 0; hour = next_bit(m_hours, hour + 1)) {
        const int64_t in_hour = std::max<int64_t>(from - hour * 3600, 0);
        for (int minute = next_bit(m_minutes, in_hour / 60); minute >= 0; minute = next_bit(m_minutes, minute + 1)) {
            const int second = next_bit(m_seconds, std::max<int64_t>(in_hour - minute * 60, 0));
            if (second >= 0) return hour * 3600 + minute * 60 + second;
        }
    }
    return std::nullopt;
}

// On a wall clock that is never put forward or back: the first match in [from, to).
std::optional<int64_t> Cron::next_on_wall(int64_t from, int64_t to) const {
    using namespace std::chrono;
    for (int64_t day = floor_divide(from, day_seconds); day * day_seconds < to; ++day) {
        const sys_days date{days(day)};
        const year_month_day shown(date);
        if ((m_months >> unsigned(shown.month()) & 1) == 0) {
            const sys_days next_month = year_month_day(shown.year(), shown.month(), std::chrono::day(1)) + months(1);
            day = next_month.time_since_epoch().count() - 1;
            continue;
        }
        if (!day_matches(int(shown.year()), unsigned(shown.month()), unsigned(shown.day()), weekday(date).c_encoding()))
            continue;
        const auto second = second_of_day(std::max<int64_t>(from - day * day_seconds, 0));
        if (!second) continue;
        const int64_t found = day * day_seconds + *second;
        if (found >= to) return std::nullopt;
        return found;
    }
    return std::nullopt;
}

std::optional<Time> Cron::next(Time after, const calendar::TimeZone& zone) const {
    const int64_t start = floor_divide(to_ns(after), 1'000'000'000);
    const int64_t limit = start + furthest;
    const auto moment = [](int64_t second) { return std::optional(from_ns(second * 1'000'000'000)); };
    // Periods change every few months; the counter only guards against a table that does not move on.
    int64_t at = start;
    for (int guard = 0; at < limit && guard < 200; ++guard) {
        const calendar::TimeZone::Period here = zone.at(at);
        const int64_t end = std::min(here.end, limit);
        int64_t from = (at == start ? start + 1 : at) + here.offset;
        // Clocks were put back at the beginning: what the first pass has shown is not shown again.
        if (!m_any_hour) {
            const calendar::TimeZone::Period before = zone.at(here.begin - 1);
            if (before.offset > here.offset) from = std::max(from, here.begin + before.offset);
        }
        if (const auto found = next_on_wall(from, end + here.offset)) return moment(*found - here.offset);
        if (here.end >= limit) return std::nullopt;
        // Clocks are put forward at the end: what they leap over happens then.
        const calendar::TimeZone::Period after_it = zone.at(here.end);
        if (!m_any_hour && after_it.offset > here.offset && here.end > start &&
            next_on_wall(here.end + here.offset, here.end + after_it.offset))
            return moment(here.end);
        at = here.end;
    }
    return std::nullopt;
}

std::vector<Time> Cron::next(Time after, const calendar::TimeZone& zone, size_t count) const {
    std::vector<Time> moments;
    while (moments.size() < count) {
        const auto found = next(moments.empty() ? after : moments.back(), zone);
        if (!found) break;
        moments.push_back(*found);
    }
    return moments;
}

} // namespace hone::automation
