#include "signal/text/message_template.h"
#include "base/text.h"
#include "signal/analysis/statistics.h"
#include "telemetry/query/filter.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::signal;

namespace {
std::string pattern(std::string_view message) {
    return join_words(template_words(message));
}
} // namespace

TEST_CASE("messages that differ only in their values have one template") {
    CHECK(pattern("order ORD-4711 not found within 5000 ms") == "order # not found within # ms");
    CHECK(pattern("order ORD-99 not found within 12 ms") == pattern("order ORD-4711 not found within 5000 ms"));
    CHECK(pattern("Expecting value: line 1 column 1 (char 0)") == "Expecting value line # column # char #");
    CHECK(pattern("cannot open '/a/b' for \"ada\": denied") == "cannot open * for * denied");
    CHECK(pattern("can't connect to https://example.com/x") == "can't connect to URL");
    CHECK(pattern("no mail for ada@example.com in /var/spool/mail") == "no mail for * in PATH");
    CHECK(pattern("bad body {\"a\": {\"b\": 1}} sent") == "bad body * sent");
    CHECK(pattern("ids 1 2 3 4") == "ids #");
    CHECK(pattern("") == "");
    CHECK(template_words(std::string(100'000, 'x') + " y").size() <= 30);
}

TEST_CASE("the fixed part is in every message of the template, and a filter can quote it") {
    CHECK(fixed_part("order ORD-1 did not answer within 5 ms") == "did not answer within");
    CHECK(fixed_part("7 8 9") == "");
    for (const char* hostile : {"say \"hi\" \\ now", "line\nbreak and tab\tand 'quote'", "\" or status = ok or \""})
        CHECK(telemetry::parse_filter("name = " + quote_filter(hostile)).value().values.front() == hostile);
}

TEST_CASE("untrusted texts are made harmless before they become titles") {
    CHECK(plain_line("[click](https://evil.example/x) <b>now</b>", 100) == "click (https evil.example/x) b now /b");
    CHECK(plain_line("a\x1b[31mred\x07\r\nb", 100) == "a 31mred b");
    CHECK(plain_line("abc\xe2\x80\xae"
                     "def\xe2\x80\x8b",
                     100) == "abcdef");
    CHECK(plain_line("`rm -rf` ![x](javascript://y)", 100) == "rm -rf ! x (javascript y)");
    CHECK(plain_line("\xff\xfe bad", 100).find("bad") != std::string::npos);
    const std::string cut = plain_line(std::string(500, 'x'), 50);
    CHECK(cut.size() <= 50);
    CHECK(cut.ends_with("…"));
    CHECK(is_valid_utf8(plain_line("ääääääääää", 7)));
}

TEST_CASE("shifts are distinguished from chance") {
    Histogram before, same, slower;
    for (int i = 0; i < 40; ++i) {
        before.bins[100 + i % 9] += 10;
        same.bins[100 + i % 9] += 3;
        slower.bins[112 + i % 9] += 3;
    }
    const Shift none = compare(before, same);
    CHECK(std::abs(none.z) < 2);
    CHECK(none.effect == doctest::Approx(0.5).epsilon(0.05));
    const Shift shift = compare(before, slower);
    CHECK(shift.z > 10);
    CHECK(shift.effect > 0.95);
    CHECK(shift.ratio() == doctest::Approx(2.83).epsilon(0.1));
    CHECK(compare({}, slower).z == 0);
    CHECK(proportion_z(50, 100, 5, 100) > 5);
    CHECK(std::abs(proportion_z(5, 100, 5, 100)) < 0.01);
    CHECK(proportion_z(5, 0, 5, 100) == 0);
    CHECK(confidence_of(1000, 20) > confidence_of(5, 6));
}
