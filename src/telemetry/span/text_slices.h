// Texts of attributes that are part of a span's input or output are stored once: the attribute holds a mark with the
// place of its text, {"$slice":["input",0,1500]}, and readers get the text back, byte for byte. A name that ends in
// _json marks a part of a JSON text that is copied with its escapes. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace hone::telemetry {

// Finds texts in the input and output of one span, while its attributes are written.
class TextSlicer {
public:
    TextSlicer(std::string_view input, std::string_view output) : m_columns{{input, 0}, {output, 0}} {}

    // Writes the mark of the text; false when the text must be written itself.
    bool append_mark(std::string& out, std::string_view text);

    static constexpr size_t shortest = 64; // bytes; a mark takes about 30

private:
    struct Column {
        std::string_view text;
        size_t last_end; // of the text found last: the messages of a conversation follow each other
    };
    size_t find(Column& column, std::string_view text);
    bool append_found(std::string& out, std::string_view text, std::string_view suffix, bool in_json);

    Column m_columns[2];
    size_t m_scanned = 0;
    std::string m_escaped;
};

// Stored attributes with every mark replaced by its text. A mark that leads nowhere stays.
std::string restore_slices(std::string attributes, std::string_view input, std::string_view output);

// The same as an expression of the engine over the columns attributes, input and output.
std::string full_attributes_sql();

// One attribute as JSON, its mark replaced; the key is an expression. Costs nothing like full_attributes_sql.
std::string attribute_sql(const std::string& key);

} // namespace hone::telemetry
