#include "telemetry/imports/foreign.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "otlp/encode.h"
#include "telemetry/imports/imports.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace hone::telemetry {

ImportElement element_of(const otlp::Batch& batch) {
    std::set<uint32_t> resources;
    for (const otlp::Span& span : batch.spans) resources.insert(span.resource);
    ImportElement element{otlp::encode_batch(otlp::Encoding::protobuf, batch), resources.size(), {}, {}};
    for (const otlp::Rejection& rejection : batch.rejected) element.rejected.push_back(rejection.reason);
    return element;
}

} // namespace hone::telemetry

namespace hone::telemetry::foreign {

const json::Value* find(const json::Value* object, std::string_view name) {
    const json::Value* value =
        object != nullptr && object->is_object() ? object->get_object().if_contains(name) : nullptr;
    return value != nullptr && !value->is_null() ? value : nullptr;
}

const json::Value* find(const json::Object& object, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (const json::Value* value = object.if_contains(name); value != nullptr && !value->is_null()) return value;
    return nullptr;
}

std::string_view text(const json::Value* value) {
    return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

std::string_view text(const json::Object& object, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (const auto found = text(object.if_contains(name)); !found.empty()) return found;
    return {};
}

double real(const json::Value* value) {
    double number = 0;
    if (value == nullptr) return 0;
    if (value->is_int64()) number = static_cast<double>(value->get_int64());
    if (value->is_uint64()) number = static_cast<double>(value->get_uint64());
    if (value->is_double()) number = value->get_double();
    if (value->is_string()) {
        const std::string_view digits = text(value);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc() || end != digits.data() + digits.size()) number = 0;
    }
    return std::isfinite(number) ? number : 0;
}

int64_t whole(const json::Value* value) {
    const double number = real(value);
    return number > 0 && number < 1e15 ? static_cast<int64_t>(number) : 0;
}

uint64_t time_ns(const json::Value* value) {
    if (value == nullptr) return 0;
    if (!value->is_string()) {
        // The unit is the one that puts it between the years 1973 and 5138.
        double number = real(value);
        if (number < 1e8 || number >= 1e20) return 0;
        double unit = 1e9;
        for (double limit = 1e11; number >= limit && unit > 1; limit *= 1e3) unit /= 1e3;
        number *= unit;
        return number < 9e18 ? static_cast<uint64_t>(number) : 0;
    }
    std::string when(text(value).substr(0, 64));
    if (when.size() > 10 && when[10] == ' ') when[10] = 'T';
    auto time = parse_time(when);
    if (!time.ok()) time = parse_time(when + "Z");
    return time.ok() && to_ns(time.value()) > 0 ? static_cast<uint64_t>(to_ns(time.value())) : 0;
}

namespace {

std::string bytes_of_hex(std::string_view id, size_t size) {
    std::string digits;
    for (const char c : id.substr(0, 64))
        if (c != '-') digits += c;
    auto bytes = from_hex(digits);
    const bool fits =
        bytes.ok() && bytes.value().size() == size && bytes.value().find_first_not_of('\0') != std::string::npos;
    return fits ? std::move(bytes).value() : std::string();
}

} // namespace

std::string trace_id(std::string_view id) {
    std::string bytes = bytes_of_hex(id, 16);
    return bytes.empty() ? crypto::hash(id).substr(0, 16) : bytes;
}

std::string span_id(std::string_view id) {
    std::string bytes = bytes_of_hex(id, 8);
    return bytes.empty() ? crypto::hash(id).substr(0, 8) : bytes;
}

void SpanBuilder::ids(std::string trace, std::string own, std::string parent) {
    span.trace_id = m_batch.keep(std::move(trace));
    if (!parent.empty() && parent != own) span.parent_span_id = m_batch.keep(std::move(parent));
    span.span_id = m_batch.keep(std::move(own));
}

void SpanBuilder::put(std::string_view key, std::string_view value) {
    if (!value.empty()) span.attributes.push_back({keep(key), {keep(value)}});
}

void SpanBuilder::put(std::string_view key, int64_t number) {
    if (number != 0) span.attributes.push_back({keep(key), {number}});
}

void SpanBuilder::put_content(std::string_view key, const json::Value* value) {
    if (value == nullptr || value->is_null()) return;
    if (value->is_string()) return put(key, text(value));
    if (value->is_object() && value->get_object().empty()) return;
    if (value->is_array() && value->get_array().empty()) return;
    put(key, json::print(*value));
}

void SpanBuilder::put_texts(std::string_view key, const json::Value* list) {
    if (list == nullptr || !list->is_array()) return;
    std::vector<otlp::Value> texts;
    for (const json::Value& entry : list->get_array())
        if (entry.is_string() && texts.size() < 200) texts.push_back({keep(text(&entry))});
    if (!texts.empty()) span.attributes.push_back({keep(key), {std::move(texts)}});
}

void SpanBuilder::fail(std::string_view type, std::string_view message) {
    span.status = otlp::StatusCode::error;
    span.status_message = keep(message);
    otlp::Event exception;
    exception.name = "exception";
    exception.time_ns = std::max(span.start_ns, span.end_ns);
    if (!type.empty()) exception.attributes.push_back({"exception.type", {keep(type)}});
    exception.attributes.push_back({"exception.message", {keep(message)}});
    span.events.push_back(std::move(exception));
}

void SpanBuilder::finish() {
    span.end_ns = std::max(span.start_ns, span.end_ns);
    m_batch.spans.push_back(std::move(span));
    span = {};
}

otlp::Batch begin_batch(std::string_view product) {
    otlp::Batch batch;
    otlp::Resource resource;
    resource.attributes = {{"telemetry.sdk.name", {batch.keep(std::string(product))}}};
    batch.resources.push_back(std::move(resource));
    batch.scopes.push_back({batch.keep(std::string(product) + "-import"), {}, {}, 0, {}});
    return batch;
}

} // namespace hone::telemetry::foreign
