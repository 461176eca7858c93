// Span queries of Phoenix' client: conditions as filters, spans as tables.
#include "api/families/phoenix/phoenix.h"
#include "api/families/phoenix/span_condition.h"
#include "api/families/phoenix/span_frame.h"
#include "telemetry/query/filter.h"
#include "json/schema.h"

#include <doctest/doctest.h>

namespace hone::api {

namespace {

std::string filter_text(std::string_view condition) {
    const auto filter = filter_of_condition(condition);
    REQUIRE_MESSAGE(filter.ok(), condition, ": ", filter.ok() ? "" : filter.error().message);
    const auto parsed = telemetry::parse_filter(filter.value());
    CHECK_MESSAGE(parsed.ok(), filter.value(), ": ", parsed.ok() ? "" : parsed.error().message);
    return filter.value();
}

std::string refusal(std::string_view condition) {
    const auto filter = filter_of_condition(condition);
    REQUIRE_FALSE(filter.ok());
    return filter.error().message;
}

json::Value a_span(std::string_view id, json::Object attributes) {
    return json::Object{{"name", "search"},
                        {"context", json::Object{{"trace_id", "trace a"}, {"span_id", id}}},
                        {"span_kind", "RETRIEVER"},
                        {"parent_id", nullptr},
                        {"start_time", "2026-01-01T00:00:00.000000+00:00"},
                        {"end_time", "2026-01-01T00:00:01.500000+00:00"},
                        {"status_code", "OK"},
                        {"status_message", ""},
                        {"attributes", std::move(attributes)},
                        {"events", json::Array{}}};
}

json::Object table(std::string_view query, const std::vector<json::Value>& spans) {
    const auto read = json::read<FrameQuery>(query);
    REQUIRE(read.ok());
    return json::parse(print_frame(read.value(), spans)).value().get_object();
}

std::string names(const json::Object& frame) {
    std::string list;
    for (const auto& field : frame.at("schema").get_object().at("fields").get_array())
        list += std::string(field.get_object().at("name").get_string()) + ":" +
                std::string(field.get_object().at("type").get_string()) + " ";
    return list;
}

} // namespace

TEST_CASE("a condition of Phoenix becomes a filter") {
    CHECK(filter_text("span_kind == 'LLM'") == R"(kind = "LLM")");
    CHECK(filter_text("parent_id is None") == R"(parent_id = "")");
    CHECK(filter_text("parent_span is None") == "root = true");
    CHECK(filter_text("latency_ms > 1000") == "latency > 1000000us");
    CHECK(filter_text("1000 < latency_ms") == "latency > 1000000us");
    CHECK(filter_text("llm.model_name == 'gpt-4o'") == R"(attributes["llm.model_name"] = "gpt-4o")");
    CHECK(filter_text("attributes['llm']['model_name'] != \"x\"") == R"(attributes["llm.model_name"] != "x")");
    CHECK(filter_text("metadata['topic'] == 'a \\'b\\''") ==
          R"((metadata["topic"] = "a 'b'" or attributes["metadata.topic"] = "a 'b'"))");
    CHECK(filter_text("metadata['topic'] != 'a'") ==
          R"((metadata["topic"] != "a" and attributes["metadata.topic"] != "a"))");
    CHECK(filter_text("metadata['topic'] is None") ==
          R"((not (metadata["topic"] exists) and not (attributes["metadata.topic"] exists)))");
    CHECK(filter_text("'refund' in input.value") == R"(input ~ "*refund*")");
    CHECK(filter_text("'refund' not in name") == R"(not (name ~ "refund"))");
    CHECK(filter_text("span_kind in ['LLM', 'TOOL']") == R"(kind in ("LLM", "TOOL"))");
    CHECK(filter_text("evals['correct'].label == 'no'") == R"(eval["correct"].label = "no")");
    CHECK(filter_text("annotations['correct'].score is not None") == R"(not (not (eval["correct"].score exists)))");
    CHECK(filter_text("status_code == 'ERROR' and (name == 'a' or not name == 'b')") ==
          R"((status = "ERROR" and (name = "a" or not (name = "b"))))");
    CHECK(filter_text("int(llm.token_count.prompt) >= 10") == R"(attributes["llm.token_count.prompt"] >= 10)");
    CHECK(filter_text("span_id == '00f067aa0ba902b7'") == R"(span_id = "00f067aa0ba902b7")");
    CHECK(filter_text("trace_id == 'mine'") == "trace_id = \"" + stored_id("mine", 32) + "\"");
}

TEST_CASE("a condition that is not understood is refused with its column") {
    CHECK(refusal("span_kind ==") == "condition, column 13: expected a field or a value");
    CHECK(refusal("__import__('os').system('id')").starts_with("condition, column "));
    CHECK(refusal("name == 'a") == "condition, column 9: the text has no end quote");
    CHECK(refusal("cumulative_token_count_total > 1").ends_with("cannot be filtered by"));
    CHECK(refusal("'a' == 'b'").ends_with("must be a field and the other a value"));
    CHECK(refusal(std::string(200, '(') + "name == 'a'").ends_with("nested too deep"));
    CHECK(refusal("name == 'a' name").ends_with("or the end"));
}

TEST_CASE("a derived id of a trace is recognised, and of the right length") {
    CHECK(stored_id("trace of mine", 32).size() == 32);
    CHECK(stored_id("trace of mine", 32).starts_with(derived_trace));
    CHECK(stored_id("trace of mine", 32) != stored_id("trace of thine", 32));
    CHECK(stored_id("span of mine", 16).size() == 16);
    CHECK(stored_id("4BF92F3577B34DA6A3CE929D0E0E4736", 32) == "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST_CASE("flat attributes become a tree with lists") {
    const auto tree = nested_attributes({{"retrieval.documents.1.document.content", "two"},
                                         {"retrieval.documents.0.document.content", "one"},
                                         {"metadata", R"({"task":"geography"})"},
                                         {"input", json::Object{{"value", "question"}}}});
    CHECK(json::print(tree) == R"({"retrieval":{"documents":[{"document":{"content":"one"}},)"
                               R"({"document":{"content":"two"}}]},"metadata":{"task":"geography"},)"
                               R"("input":{"value":"question"}})");
}

TEST_CASE("documents are exploded into rows of a table") {
    const auto frame =
        table(R"({"select":{"context.trace_id":{"key":"context.trace_id"},"input.value":{"key":"input.value"}},)"
              R"("explode":{"key":"retrieval.documents","kwargs":{"document":"document.content",)"
              R"("document_score":"document.score"},"primary_index_key":"context.span_id"},)"
              R"("rename":{"input.value":"input"},"index":{"key":"context.span_id"}})",
              {a_span("span a", {{"input.value", "what?"},
                                 {"retrieval.documents.0.document.content", "one"},
                                 {"retrieval.documents.0.document.score", 0.5},
                                 {"retrieval.documents.1.document.content", "two"}}),
               a_span("span b", {{"input.value", "nothing"}})});
    CHECK(names(frame) == "0_context.span_id:any 1_document_position:integer 2_context.trace_id:any 3_input:any "
                          "4_document:any 5_document_score:number ");
    const auto& rows = frame.at("data").get_array();
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].get_object().at("0_context.span_id") == "span a");
    CHECK(rows[1].get_object().at("1_document_position") == 1);
    CHECK(rows[1].get_object().at("4_document") == "two");
    CHECK(rows[1].get_object().at("5_document_score").is_null());
}

TEST_CASE("texts of documents are joined, and spans without documents left out") {
    const auto frame = table(R"({"concat":{"key":"retrieval.documents","kwargs":{"context":"document.content"},)"
                             R"("separator":" + "},"index":{"key":"context.trace_id"}})",
                             {a_span("span a", {{"retrieval.documents.0.document.content", "one"},
                                                {"retrieval.documents.1.document.content", "two"}}),
                              a_span("span b", {})});
    CHECK(names(frame) == "0_context.trace_id:any 1_context:any ");
    REQUIRE(frame.at("data").get_array().size() == 1);
    CHECK(frame.at("data").get_array()[0].get_object().at("1_context") == "one + two");
}

TEST_CASE("without a selection a table has every field") {
    const auto frame = table("{}", {a_span("span a", {{"llm.token_count.total", 7}, {"metadata", R"({"a":1})"}})});
    CHECK(names(frame) ==
          "0_context.span_id:any 1_name:any 2_span_kind:any 3_parent_id:any 4_start_time:datetime 5_end_time:datetime "
          "6_status_code:any 7_status_message:any 8_events:any 9_context.span_id:any 10_context.trace_id:any "
          "11_attributes.llm.token_count.total:integer 12_attributes.metadata:any ");
    CHECK(table("{}", {}).at("data").get_array().empty());
}

TEST_CASE("without a selection objects of one's own are one value, and the items of lists have one level") {
    const auto frame = table("{}", {a_span("span a", {{"url", json::Object{{"full", "https://x"}, {"path", "/x"}}},
                                                      {"mine.count", 3},
                                                      {"llm.prompt_template.variables", R"({"who":{"name":"Ada"}})"},
                                                      {"llm.input_messages.0.message.role", "user"},
                                                      {"llm.input_messages.0.message.content", "Hi"}})});
    const auto& row = frame.at("data").get_array()[0].get_object();
    CHECK(json::print(row.at("11_attributes.url")) == R"({"full":"https://x","path":"/x"})");
    CHECK(json::print(row.at("12_attributes.mine")) == R"({"count":3})");
    CHECK(json::print(row.at("13_attributes.llm.prompt_template.variables")) == R"({"who":{"name":"Ada"}})");
    CHECK(json::print(row.at("14_attributes.llm.input_messages")) ==
          R"([{"message.role":"user","message.content":"Hi"}])");
}

} // namespace hone::api
