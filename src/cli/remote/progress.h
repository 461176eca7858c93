// How far a long job is, on one line of standard error that is written over; only for a person who watches. One thread.
#pragma once

#include "cli/remote/context.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::cli {

class Progress {
public:
    // `show` turns an amount into text: bytes_text, count_text.
    template <class Number>
    Progress(const Context& context, std::string_view unit, std::string (*show)(Number))
        : Progress(context, unit, std::function([show](uint64_t n) { return show(static_cast<Number>(n)); })) {}
    Progress(const Context& context, std::string_view unit, std::function<std::string(uint64_t)> show);
    ~Progress() { finish(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // If it is known.
    void set_whole(std::optional<uint64_t> whole) { m_whole = whole; }
    void add(uint64_t amount);
    // Removes the line, before other output.
    void finish();
    uint64_t amount() const { return m_amount; }

private:
    const Context& m_context;
    const std::string m_unit;
    const std::function<std::string(uint64_t)> m_show;
    const bool m_shown;
    const Duration m_start;
    Duration m_last{};
    bool m_has_line = false;
    std::optional<uint64_t> m_whole;
    uint64_t m_amount = 0;
};

} // namespace hone::cli
