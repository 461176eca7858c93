// A directory of its own for a test or a benchmark, gone when the object is. Tests only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hone::telemetry {

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "hone-test-XXXXXX").string();
        if (!::mkdtemp(name.data())) std::abort();
        m_path = name;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return m_path; }
    std::string operator/(std::string_view name) const { return m_path + "/" + std::string(name); }

private:
    std::string m_path;
};

} // namespace hone::telemetry
