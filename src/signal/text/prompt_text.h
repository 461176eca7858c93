// What prompts and outputs of models state about tools and formats: the tools that a prompt lists, calls in code,
// limits, tags and formats that an instruction requires. Pure and bounded; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hone::signal {

bool is_identifier_letter(char letter);

// A tool that only hands over the result.
bool returns_result(std::string_view tool);

// Where the word occurs as a whole word, from `from` on.
size_t find_word(std::string_view text, std::string_view word, size_t from = 0);

// "search(" : the tool is called in code.
bool is_called_in_code(std::string_view text, std::string_view tool);

// Tools that a prompt lists: "…these tools:", then lines "- name: what it does".
void add_listed_tools(std::string_view prompt, std::set<std::string>& tools);

// What a call of a tool can have.
struct Schema {
    std::string name;
    std::set<std::string> properties;
    std::vector<std::string> required;
    bool is_closed = false; // its properties are listed
};

// By name, from JSON texts: one definition or a list of them, in the forms of the usual providers.
std::map<std::string, Schema> schemas_of(const std::vector<std::string>& tools);

// The sentence around this place, within its line.
std::string_view sentence_at(std::string_view text, size_t at);

// Whether the sentence announces an action.
bool is_intention(std::string_view sentence);

// A limit that the instruction states, 0 when it states none: "500 characters at a time", "up to the first 300
// characters".
int64_t characters_allowed(std::string_view text);

// The longest part that code prints: print(text[:1000]), text[i:i + 2000].
int64_t longest_printed(std::string_view code);

// Tags that an instruction requires: "must end with '<end>'", "write the '<end_plan>' tag".
std::vector<std::string> required_tags(std::string_view text);

// The instruction requests JSON and nothing else.
bool requires_json(std::string_view text);

// Whether the text, or the block of code that it is, can be parsed.
bool has_json(std::string_view text);

} // namespace hone::signal
