#include "telemetry/span/prices.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace hone::telemetry {

namespace {

// USD per million tokens: model, input, output, cache read, cache write. The vendors' public list prices for standard
// requests as of this day, without discounts for batches or surcharges for long contexts. The setting prices_file names
// a file with lines of the same form that win over these.
constexpr Time built_in_since = std::chrono::sys_days(std::chrono::year(2025) / 12 / 1);
constexpr std::string_view built_in_prices = R"(
gpt-5.1 1.25 10 0.125
gpt-5 1.25 10 0.125
gpt-5-mini 0.25 2 0.025
gpt-5-nano 0.05 0.4 0.005
gpt-5-pro 15 120
gpt-5-codex 1.25 10 0.125
gpt-4.1 2 8 0.5
gpt-4.1-mini 0.4 1.6 0.1
gpt-4.1-nano 0.1 0.4 0.025
gpt-4o 2.5 10 1.25
gpt-4o-mini 0.15 0.6 0.075
gpt-4-turbo 10 30
gpt-4 30 60
gpt-3.5-turbo 0.5 1.5
o1 15 60 7.5
o1-mini 1.1 4.4 0.55
o3 2 8 0.5
o3-pro 20 80
o3-mini 1.1 4.4 0.55
o4-mini 1.1 4.4 0.275
text-embedding-3-small 0.02 0
text-embedding-3-large 0.13 0
text-embedding-ada-002 0.1 0
claude-opus-4-5 5 25 0.5 6.25
claude-opus-4 15 75 1.5 18.75
claude-sonnet-4 3 15 0.3 3.75
claude-haiku-4-5 1 5 0.1 1.25
claude-3-7-sonnet 3 15 0.3 3.75
claude-3-5-sonnet 3 15 0.3 3.75
claude-3-5-haiku 0.8 4 0.08 1
claude-3-opus 15 75 1.5 18.75
claude-3-haiku 0.25 1.25 0.03 0.3
gemini-3-pro 2 12 0.2
gemini-2.5-pro 1.25 10 0.125
gemini-2.5-flash 0.3 2.5 0.03
gemini-2.5-flash-lite 0.1 0.4 0.01
gemini-2.0-flash 0.1 0.4 0.025
gemini-1.5-pro 1.25 5 0.3125
gemini-1.5-flash 0.075 0.3 0.01875
)";

Result<int64_t> parse_price(std::string_view text) {
    double usd = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), usd);
    if (error != std::errc() || end != text.data() + text.size() || !(usd >= 0) || usd > 1e6)
        return invalid("not a price in USD per million tokens: \"" + std::string(text.substr(0, 40)) + "\"");
    return std::llround(usd * 1000);
}

Result<Time> parse_day(std::string_view text) {
    const auto time = parse_time(std::string(text) + "T00:00:00Z");
    if (text.size() != 10 || !time.ok())
        return invalid("not a day such as 2026-01-31: \"" + std::string(text.substr(0, 40)) + "\"");
    return time.value();
}

std::string dollars(int64_t price) {
    return fmt::format("{}", static_cast<double>(price) / 1000);
}

// "openai/gpt-4o", "us.anthropic.claude-…" and "models/gemini-…" name the same model as their last part.
std::string_view without_vendor(std::string_view model) {
    if (const size_t slash = model.rfind('/'); slash != std::string_view::npos) model.remove_prefix(slash + 1);
    if (const size_t at = model.find("anthropic."); at != std::string_view::npos) model.remove_prefix(at + 10);
    return model;
}

// What follows a known name must look like a version or a date, so that gpt-4 never prices gpt-4o.
bool is_version(std::string_view rest) {
    if (rest.empty()) return true;
    if (rest[0] != '-' && rest[0] != '@' && rest[0] != ':') return false;
    rest.remove_prefix(1);
    return rest.starts_with("latest") || rest.starts_with("preview") || rest.starts_with("exp") ||
           (!rest.empty() && (rest[0] == 'v' || (rest[0] >= '0' && rest[0] <= '9')));
}

} // namespace

Prices Prices::built_in() {
    Prices prices;
    const auto added = prices.add(built_in_prices);
    CHECK_OR_ABORT(added.ok());
    for (auto& [model, listed] : prices.m_prices)
        for (Price& price : listed) price.since = built_in_since;
    return prices;
}

std::string Price::line() const {
    return fmt::format("{} {} {} {} {}{}", model, dollars(input), dollars(output), dollars(cache_read),
                       dollars(cache_write), since == Time{} ? "" : " since " + to_text(since).substr(0, 10));
}

Result<> Prices::add(std::string_view lines) {
    for (std::string_view line : split(lines, '\n')) {
        line = trim(line.substr(0, line.find('#')));
        std::vector<std::string_view> words;
        for (const std::string_view word : split(line, ' '))
            if (!word.empty()) words.push_back(word);
        if (words.empty()) continue;
        Price price;
        if (words.size() > 2 && words[words.size() - 2] == "since") {
            price.since = TRY(parse_day(words.back()));
            words.resize(words.size() - 2);
        }
        if (words.size() < 3 || words.size() > 5)
            return invalid("a price line is: model input output [cache_read [cache_write]] [since YYYY-MM-DD]");
        price.model = lowercase_ascii(words[0]);
        price.input = TRY(parse_price(words[1]));
        price.output = TRY(parse_price(words[2]));
        price.cache_read = words.size() > 3 ? TRY(parse_price(words[3])) : price.input;
        price.cache_write = words.size() > 4 ? TRY(parse_price(words[4])) : price.input;
        std::vector<Price>& listed = m_prices[price.model];
        std::erase_if(listed, [&](const Price& old) { return price.since == Time{} || old.since == price.since; });
        const auto later =
            std::find_if(listed.begin(), listed.end(), [&](const Price& other) { return other.since > price.since; });
        listed.insert(later, std::move(price));
    }
    return {};
}

const Price* Prices::find(std::string_view model, Time at) const {
    const std::string name = lowercase_ascii(without_vendor(model.substr(0, 200)));
    for (size_t length = name.size(); length > 0; --length) {
        const std::string_view prefix(name.data(), length);
        const auto known = m_prices.find(prefix);
        if (known == m_prices.end() || !is_version(std::string_view(name).substr(length))) continue;
        const std::vector<Price>& listed = known->second;
        const Price* price = &listed.front();
        for (const Price& other : listed)
            if (other.since <= at) price = &other;
        return price;
    }
    return nullptr;
}

int64_t cost_nano_usd(const Price& price, const Tokens& tokens) {
    return tokens.input * price.input + tokens.cache_read * price.cache_read + tokens.cache_write * price.cache_write +
           (tokens.output + tokens.reasoning) * price.output;
}

} // namespace hone::telemetry
