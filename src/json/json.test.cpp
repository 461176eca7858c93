#include "json/json.h"
#include "json/schema.h"

#include <doctest/doctest.h>

using namespace hone;

namespace sample {
enum class Colour { red, green };
constexpr auto enum_names(Colour) {
    return std::array{EnumName{Colour::red, "red"}, EnumName{Colour::green, "green"}};
}
struct RunTag {
    static constexpr std::string_view kind = "run";
};
struct Part {
    std::vector<std::string> labels;
    static constexpr Pack fields{Field{"labels", &Part::labels, "Words."}};
};
struct Change {
    std::optional<std::optional<int64_t>> days;
    static constexpr Pack fields{Field{"days", &Change::days, ""}};
};
struct Thing {
    std::string name;
    std::optional<int64_t> count;
    json::Defaulted<bool> loud = true;
    Colour colour = Colour::red;
    Time when{};
    Id<RunTag> run;
    std::vector<Part> parts;
    std::map<std::string, double> weights;
    static constexpr Pack fields{
        Field{"name", &Thing::name, "What it is called."},
        Field{"count", &Thing::count, ""},
        Field{"loud", &Thing::loud, ""},
        Field{"colour", &Thing::colour, ""},
        Field{"when", &Thing::when, ""},
        Field{"run", &Thing::run, ""},
        Field{"parts", &Thing::parts, ""},
        Field{"weights", &Thing::weights, ""},
    };
};
} // namespace sample

namespace {
constexpr const char* good =
    R"({"name":"n","colour":"green","when":"2026-01-31T12:00:00.000000000Z",)"
    R"("run":"run_01ARZ3NDEKTSV4RRFFQ69G5FAV","parts":[{"labels":["a","b"]}],"weights":{"x":1.5}})";
std::string error_of(std::string_view text) {
    auto result = json::read<sample::Thing>(text);
    return result.ok() ? "" : result.error().message;
}
std::string changed(std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
}
} // namespace

TEST_CASE("a struct survives a round trip through JSON") {
    auto thing = json::read<sample::Thing>(good).value();
    CHECK(thing.colour == sample::Colour::green);
    CHECK(thing.loud);
    CHECK(!thing.count);
    CHECK(thing.parts[0].labels[1] == "b");
    const auto again = json::read<sample::Thing>(json::write(thing)).value();
    CHECK(json::write(again) == json::write(thing));
}

TEST_CASE("errors name the path") {
    CHECK(error_of(changed(R"("b")", "2")) == "parts[0].labels[1] must be a string");
    CHECK(error_of(changed(R"("name":"n",)", "")) == "name is missing");
    CHECK(error_of(changed(R"("labels")", R"("lables")")) == "unknown field parts[0].lables");
    CHECK(error_of(changed("green", "blue")) == "colour must be one of red, green");
    CHECK(error_of(changed("1.5", "true")) == "weights.x must be a number");
    CHECK(error_of(changed("run_01", "xun_01")).starts_with("run: not an id of kind run"));
    CHECK(error_of(changed("12:00:00.", "25:00:00.")).starts_with("when is not a time"));
    CHECK(error_of("[]") == "the body must be an object");
    CHECK(error_of(changed(R"("n")", R"("a\u0000b")")) == "name must not contain a NUL character");
}

TEST_CASE("a change distinguishes null from absent") {
    CHECK(!json::read<sample::Change>("{}").value().days);
    CHECK(json::read<sample::Change>(R"({"days":null})").value().days ==
          std::optional<std::optional<int64_t>>(std::in_place));
    CHECK(json::read<sample::Change>(R"({"days":3})").value().days == std::optional<int64_t>(3));
}

TEST_CASE("a fraction is the nearest double, so that what was printed reads back the same") {
    const std::string long_integer = "5" + std::string(38, '5') + "2";
    for (const std::string& text :
         {long_integer, std::string("1.7976931348623157e308"), std::string("5e-324"),
          std::string("0.30000000000000004"), std::string("[\"1.5\\\"\",-2,{\"2.5\":9007199254740993.0}]")}) {
        CAPTURE(text);
        const std::string printed = json::print(json::parse(text).value());
        CHECK(json::print(json::parse(printed).value()) == printed);
    }
    CHECK(json::parse(long_integer).value().as_double() == 5.5555555555555555555555555555555555555552e39);
    CHECK(json::parse("[7,{\"2\":0.30000000000000004}]").value().at(1).at("2").as_double() == 0.1 + 0.2);
    CHECK(json::parse("0e1001").value().as_double() == 0);
    CHECK(json::print(json::parse(R"([0.2,2.0,-0.0,1e5,12.5,"2E-1",{"E":1e-7,"a\"E":1e22}])").value()) ==
          R"([0.2,2.0,-0.0,100000.0,12.5,"2E-1",{"E":1e-07,"a\"E":1e+22}])");
    CHECK(json::parse("1e-400").value().as_double() == 0);
}

TEST_CASE("text that is not JSON is refused with its place") {
    CHECK(json::parse("{\"a\":1,\n\"b\" 2}").error().message.starts_with("not valid JSON at line 2, column 5"));
    CHECK(json::parse("").error().message == "the JSON text ends too early");
    CHECK(json::parse("{\"a\":").error().message == "the JSON text ends too early");
    CHECK(json::parse("{} x").error().message.find("not valid JSON") == 0);
    CHECK(json::parse("\"\xff\"").error().message == "the JSON text is not valid UTF-8");
    CHECK(json::parse("1e1001").error().message == "a number in the JSON text is out of range");
    CHECK(json::parse("{\"a\":[1e10010]}").error().message == "a number in the JSON text is out of range");
    CHECK(json::parse(std::string(100, '[')).error().message == "the JSON is nested deeper than 64 levels");
    CHECK(json::parse(R"({"a":{"b":1,"b":2}})").error().message == "the key \"b\" appears twice in one JSON object");
    CHECK(json::parse(R"({"a":{"b":1},"c":{"b":2},"d":["\"x\":",{"b":"\\"}]})").ok());
}

TEST_CASE("a schema states what reading requires") {
    const auto schema = json::schema<sample::Thing>();
    const auto& thing = schema.at("$defs").at("Thing");
    CHECK(schema.at("$ref").as_string() == "#/$defs/Thing");
    CHECK(json::print(thing.at("required")) == R"(["name","colour","when","run","parts","weights"])");
    CHECK(thing.at("additionalProperties") == false);
    CHECK(thing.at("properties").at("name").at("description").as_string() == "What it is called.");
    CHECK(thing.at("properties").at("colour").at("$ref").as_string() == "#/$defs/Colour");
    CHECK(json::print(schema.at("$defs").at("Colour").at("enum")) == R"(["red","green"])");
}

TEST_CASE("TypeScript comes from the same fields") {
    json::Schemas schemas;
    json::schema_of<sample::Part>(schemas);
    CHECK(json::typescript(schemas, json::Direction::sent) ==
          "export interface Part {\n  /** Words. */\n  labels: string[];\n}\n\n");
}
