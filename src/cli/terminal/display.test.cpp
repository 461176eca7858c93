#include "cli/terminal/display.h"
#include "cli/remote/view.h"
#include "cli/terminal/table.h"
#include "json/json.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::cli;

TEST_CASE("width counts columns of a terminal, not bytes") {
    CHECK(display_width("plain") == 5);
    CHECK(display_width("naïve") == 5);
    CHECK(display_width("日本語") == 6);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("🚀") == 2);
    CHECK(display_width("") == 0);
}

TEST_CASE("cut text ends in an ellipsis and never exceeds its width") {
    CHECK(cut_to_width("short", 5) == "short");
    CHECK(cut_to_width("longer text", 6) == "longe…");
    CHECK(cut_to_width("日本語", 4) == "日…");
    CHECK(cut_to_width("abc", 1) == "…");
    CHECK(cut_to_width("abc", 0).empty());
}

TEST_CASE("escape sequences and direction overrides become visible") {
    CHECK(safe_line("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m");
    CHECK(safe_line("user\u202Egpj.exe") == "user\\u202egpj.exe");
    CHECK(safe_line("\u2066hidden\u2069") == "\\u2066hidden\\u2069");
    CHECK(safe_line("\u009b2J") == "\\x9b2J"); // the one-character form of ESC [
    CHECK(safe_line(std::string_view("a\0b\r\x7f", 5)) == "a\\x00b\\x0d\\x7f");
    CHECK(safe_line("two\nlines\tand tab") == "two lines and tab");
    CHECK(safe_block("two\nlines\x07") == "two\nlines\\x07");
    CHECK(safe_line("bad \xff\xfe utf8") == "bad \uFFFD\uFFFD utf8");
    CHECK(safe_line("क्‍ष 👩‍🚀") == "क्‍ष 👩‍🚀"); // joiners are part of writing
}

TEST_CASE("guarded JSON means the same and holds no control characters") {
    const json::Value value = json::Object{{"name", "a\u202Eb\u009bc\x7f\U000e0041"}};
    const std::string safe = safe_json(json::print(value));
    CHECK(safe == "{\"name\":\"a\\u202eb\\u009bc\\u007f\\udb40\\udc41\"}");
    CHECK(json::parse(safe).value() == value);
}

TEST_CASE("guarding piece by piece gives the same as guarding the whole text") {
    const std::string text = "{\"a\":\"日本\u202E語🚀\u009b\"}\n";
    for (size_t cut = 0; cut <= text.size(); ++cut) {
        JsonGuard guard;
        std::string pieces = guard.feed(std::string_view(text).substr(0, cut));
        pieces += guard.feed(std::string_view(text).substr(cut));
        CHECK(pieces + guard.finish() == safe_json(text));
    }
}

TEST_CASE("columns are aligned by display width") {
    const auto lines =
        layout_table({{"NAME"}, {"SIZE", false, true}, {"LAST"}}, {{"日本", "5", "x"}, {"abcdef", "1234", "y"}}, 0);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "NAME    SIZE  LAST");
    CHECK(lines[1] == "日本       5  x");
    CHECK(lines[2] == "abcdef  1234  y");
}

TEST_CASE("on a narrow terminal the wide columns shrink and ids stay whole") {
    const std::string id = "project_01JABCDEFGHJKMNPQRSTVWXYZ0";
    const std::string text(100, 'x'), other(60, 'y');
    const auto lines = layout_table({{"ID", true}, {"NAME"}, {"DESCRIPTION"}}, {{id, text, other}}, 80);
    CHECK(display_width(lines[1]) == 80);
    CHECK(lines[1].starts_with(id + "  xxx"));
    CHECK(lines[1].find("x…  y") != std::string::npos);
    CHECK(lines[1].ends_with("y…"));

    SUBCASE("a terminal too narrow for the ids shows them whole all the same") {
        const auto narrow = layout_table({{"ID", true}, {"NAME"}}, {{id, text}}, 20);
        CHECK(narrow[1] == id + "  xxxxxxx…");
    }
    SUBCASE("without a terminal nothing is cut") {
        CHECK(layout_table({{"NAME"}}, {{text}}, 0)[1] == text);
    }
}

TEST_CASE("times near now are printed as durations") {
    const Time now = parse_time("2026-11-15T12:00:00Z").value();
    const auto told = [&](const char* text) { return relative_time(parse_time(text).value(), now); };
    CHECK(told("2026-11-15T11:59:55Z") == "just now");
    CHECK(told("2026-11-15T11:59:15Z") == "45 s ago");
    CHECK(told("2026-11-15T11:57:00Z") == "3 min ago");
    CHECK(told("2026-11-15T07:00:00Z") == "5 h ago");
    CHECK(told("2026-11-12T11:00:00Z") == "3 days ago");
    CHECK(told("2026-09-01T00:00:00Z") == "2026-09-01");
    CHECK(told("2026-11-22T12:00:00Z") == "in 7 days");
    CHECK(told("2026-11-15T12:00:05Z") == "in a moment");
}
