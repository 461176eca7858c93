#include "api/families/phoenix/global_id.h"

#include <doctest/doctest.h>

namespace hone::api {

using telemetry::EvalTarget;

TEST_CASE("a GlobalID gives back what it was made of, and only for its kind") {
    for (const std::string name : {"4bf92f3577b34da6", "a: b / c", "Grüße", ""}) {
        const std::string text = make_global_id(EvalTarget::chat_session, "project_1", name);
        const auto read = parse_global_id(EvalTarget::chat_session, text);
        REQUIRE(read);
        CHECK(read->project == "project_1");
        CHECK(read->id == name);
        CHECK(!parse_global_id(EvalTarget::span, text));
        CHECK(!parse_global_id(EvalTarget::trace, text));
    }
}

TEST_CASE("a bare id is no GlobalID") {
    for (const char* text : {"", "00f067aa0ba902b7", "4bf92f3577b34da6a3ce929d0e0e4736", "chat 1", "U3Bhbjo", "!!!!"})
        for (const EvalTarget target : {EvalTarget::span, EvalTarget::trace, EvalTarget::chat_session})
            CHECK(!parse_global_id(target, text));
}

} // namespace hone::api
