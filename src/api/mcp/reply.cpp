#include "api/mcp/reply.h"

#include "base/text.h"

#include <algorithm>

namespace hone::api {

json::Value plain_schema(json::Value schema) {
    json::Object definitions;
    if (schema.is_object())
        if (const json::Value* named = schema.get_object().if_contains("$defs"); named != nullptr && named->is_object())
            definitions = named->get_object();
    const auto resolve = [&](const auto& self, const json::Value& value, int depth) -> json::Value {
        if (depth > 16) return json::Object{};
        if (value.is_array()) {
            json::Array list;
            for (const json::Value& item : value.get_array()) list.push_back(self(self, item, depth + 1));
            return list;
        }
        if (!value.is_object()) return value;
        const json::Object& object = value.get_object();
        if (const json::Value* reference = object.if_contains("$ref"); reference != nullptr && reference->is_string()) {
            const std::string path(reference->get_string());
            const json::Value* found = definitions.if_contains(path.substr(path.rfind('/') + 1));
            return found != nullptr ? self(self, *found, depth + 1) : json::Value(json::Object{});
        }
        if (const json::Value* choices = object.if_contains("anyOf");
            choices != nullptr && choices->is_array() && choices->get_array().size() == 2) {
            json::Value only = self(self, choices->get_array()[0], depth + 1);
            if (const json::Value* doc = object.if_contains("description"); doc != nullptr && only.is_object())
                only.get_object()["description"] = *doc;
            return only;
        }
        json::Object made;
        for (const auto& entry : object)
            if (entry.key() != "$defs" && entry.key() != "format")
                made[entry.key()] = self(self, entry.value(), depth + 1);
        return made;
    };
    return resolve(resolve, schema, 0);
}

namespace {

void cut_texts(json::Value& value, size_t most) {
    if (value.is_string()) {
        const std::string_view text = value.get_string();
        if (text.size() <= most) return;
        const std::string_view kept = truncate_utf8(text, most);
        value = std::string(kept) + "…[" + std::to_string(text.size() - kept.size()) + " bytes left out]";
    } else if (value.is_array()) {
        for (json::Value& item : value.get_array()) cut_texts(item, most);
    } else if (value.is_object()) {
        for (auto& entry : value.get_object()) cut_texts(entry.value(), most);
    }
}

// Takes items off the end of the longest list; false when there is none left to shorten.
bool shorten_lists(json::Value& reply) {
    if (!reply.is_object()) return false;
    json::Object& object = reply.get_object();
    json::Array* longest = nullptr;
    for (auto& entry : object)
        if (entry.value().is_array() && (longest == nullptr || entry.value().get_array().size() > longest->size()))
            longest = &entry.value().get_array();
    if (longest == nullptr || longest->size() <= 1) return false;
    const size_t drop = std::max<size_t>(1, longest->size() / 4);
    longest->resize(longest->size() - drop);
    const json::Value* before = object.if_contains("left_out");
    const int64_t already = before != nullptr && before->is_int64() ? before->get_int64() : 0;
    object["left_out"] = already + static_cast<int64_t>(drop);
    object["advice"] = "The reply was too large. Use a narrower filter or time range, or a smaller limit.";
    return true;
}

constexpr size_t longest_row_text = 8192;
constexpr size_t shortest_row_text = 500;

} // namespace

Result<json::Value> fit_page(const std::function<Result<json::Value>(int64_t limit)>& fetch, int64_t limit,
                             size_t bytes) {
    for (;;) {
        json::Value reply = TRY(fetch(limit));
        if (reply.is_object())
            if (const json::Value* cursor = reply.get_object().if_contains("next_cursor"); cursor && cursor->is_null())
                reply.get_object().erase("next_cursor");
        for (size_t most = longest_row_text; most >= shortest_row_text && json::print(reply).size() > bytes; most /= 4)
            cut_texts(reply, most);
        const size_t size = json::print(reply).size();
        if (size <= bytes) return reply;
        if (limit <= 1) {
            fit(reply, bytes);
            return reply;
        }
        const auto share = static_cast<double>(bytes) / static_cast<double>(size);
        limit = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(limit) * share * 0.9));
    }
}

void fit_rows(json::Value& reply, std::string_view name, const json::Array& rows, int64_t first, int64_t limit,
              size_t bytes) {
    json::Array shown;
    size_t used = json::print(reply).size() + name.size() + 100;
    const auto count = static_cast<int64_t>(rows.size());
    int64_t at = std::min(first, count);
    for (; at < count && static_cast<int64_t>(shown.size()) < limit; ++at) {
        json::Value row = rows[static_cast<size_t>(at)];
        size_t size = json::print(row).size();
        for (size_t most = longest_row_text; most >= shortest_row_text && size > bytes / 4; most /= 4) {
            cut_texts(row, most);
            size = json::print(row).size();
        }
        if (used + size > bytes && !shown.empty()) break;
        used += size + 1;
        shown.push_back(std::move(row));
    }
    json::Object& object = reply.get_object();
    object[name] = std::move(shown);
    if (at < count) object["next_cursor"] = std::to_string(at);
    fit(reply, bytes);
}

TextPart part_of(std::string_view text, size_t offset, size_t length) {
    const auto is_inside = [&](size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    };
    TextPart part;
    part.offset = std::min(offset, text.size());
    while (is_inside(part.offset)) ++part.offset;
    size_t end = std::min(text.size(), part.offset + length);
    while (end > part.offset && is_inside(end)) --end;
    if (end == part.offset && end < text.size()) { // a part is at least a character
        ++end;
        while (is_inside(end)) ++end;
    }
    part.text = repair_utf8(text.substr(part.offset, end - part.offset));
    if (end < text.size()) part.next = end;
    return part;
}

void fit(json::Value& reply, size_t bytes) {
    for (size_t most = 8192; most >= 200 && json::print(reply).size() > bytes; most /= 4) cut_texts(reply, most);
    while (json::print(reply).size() > bytes)
        if (!shorten_lists(reply)) return;
}

} // namespace hone::api
