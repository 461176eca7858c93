// The formats of an import, cut into elements and read: lines, JSON values that follow each other or are in a list,
// OTLP messages. Each element becomes OTLP protobuf, so that one decoder applies the limits. Bounded; fuzzed.
#pragma once

#include "base/result.h"
#include "telemetry/imports/imports.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

constexpr size_t largest_element = 64 << 20;

// A line of our own export: as JSON lines, or as a Parquet row printed as JSON.
Result<ImportElement> read_span_line(std::string_view json);
// An ExportTraceServiceRequest as JSON.
Result<ImportElement> read_otlp_line(std::string_view json);
// A span of Phoenix's REST API, or a row of its data frame ("context.span_id", "attributes.llm.model_name").
Result<ImportElement> read_phoenix_span(std::string_view json);

// Takes one element with its number; an error ends the import.
using TakeElement = std::function<Result<>(std::string_view element, int64_t number)>;
// Reports that an element cannot be read.
using RefuseElement = std::function<void(int64_t number, std::string reason)>;

// Cuts a stream of bytes into elements.
class ElementSplitter {
public:
    // json: an indented value or a list as json_values, else lines, of which a broken one costs only itself.
    enum class Kind { lines, json_values, otlp_messages, json };
    ElementSplitter(Kind kind, TakeElement take, RefuseElement refuse)
        : m_kind(kind),
          m_take(std::move(take)),
          m_refuse(std::move(refuse)) {}

    Result<> add(std::string_view bytes);
    Result<> finish();

private:
    Result<> add_lines();
    Result<> add_values();
    Result<> add_messages();
    bool find_kind();
    Result<bool> begin_document(size_t& at);
    Result<> take_value(size_t end);

    Kind m_kind;
    const TakeElement m_take;
    const RefuseElement m_refuse;
    std::string m_buffer; // what is not taken yet
    int64_t m_number = 0;
    bool m_skips_line = false; // too long
    bool m_is_over = false;    // the last byte is in m_buffer
    // Of json_values:
    size_t m_at = 0;          // read up to here
    int m_depth = 0;          // brackets open around m_at
    int m_element_depth = -1; // where elements stand; -1: between documents
    size_t m_element = 0;     // where the element begins
    bool m_in_text = false, m_is_escaped = false;
};

} // namespace hone::telemetry
