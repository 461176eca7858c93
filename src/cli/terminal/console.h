// Where a command reads and writes: its three descriptors, whether they are terminals, colours, prompts. Built once per
// process (tests give it pipes and pseudo terminals). One thread.
#pragma once

#include "base/result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::cli {

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

enum class Style { bold, dim, red, green, yellow };

class Console {
public:
    Console(int in, int out, int err, const Environment& environment);

    // Output and notes are written as given: make foreign text safe first (display.h).
    void print(std::string_view text);
    void note(std::string_view text); // to standard error
    // True once the reader of the output has closed it, as with `| head`: the command can stop.
    bool is_output_gone() const { return m_output_gone; }
    // The first reason why output could not be written, other than a reader that left.
    const std::optional<Error>& output_error() const { return m_output_error; }

    int input() const { return m_in; }
    bool is_input_terminal() const { return m_in_terminal; }
    bool is_output_terminal() const { return m_out_terminal; }
    bool is_error_terminal() const { return m_err_terminal; }
    // A person can respond.
    bool is_interactive() const { return m_in_terminal && m_err_terminal; }
    // Columns of the output's terminal; 0 when it is none.
    size_t width() const;
    void disable_colour() { m_colour = false; }
    std::string paint(Style style, std::string_view text) const;      // for print
    std::string paint_note(Style style, std::string_view text) const; // for note

    // One line from the person, without its end. An error (conflict) when they cancelled.
    Result<std::string> prompt(std::string_view text);
    // The same without showing what is typed.
    Result<std::string> prompt_secret(std::string_view text);
    // One line of standard input, for --password-stdin.
    Result<std::string> read_line();

private:
    std::string paint_if(bool yes, Style style, std::string_view text) const;

    int m_in;
    int m_out;
    int m_err;
    bool m_in_terminal;
    bool m_out_terminal;
    bool m_err_terminal;
    bool m_colour;
    bool m_output_gone = false;
    std::optional<Error> m_output_error;
};

} // namespace hone::cli
