#include "cli/remote/download.h"

#include "base/file.h"
#include "cli/remote/progress.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::cli {

namespace {

Result<> sync_directory_of(const std::string& file) {
    const std::string parent = std::filesystem::path(file).parent_path().string();
    const Fd directory(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open() || ::fsync(directory.get()) != 0)
        return system_error("sync the directory of " + file, errno);
    return {};
}

// The lock distinguishes a second download to the same file from the remains of one that was killed.
Result<Fd> open_partial(const std::string& partial) {
    Fd descriptor(::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!descriptor.is_open()) return system_error("write " + partial, errno);
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) return conflict("another process is writing " + partial);
    if (::ftruncate(descriptor.get(), 0) != 0) return system_error("write " + partial, errno);
    return descriptor;
}

using Fetch = std::function<Result<>(const std::function<Result<>(std::string_view)>& sink)>;

Result<> fetch_and_rename(const Fetch& fetch, const std::string& file) {
    const std::string partial = file + ".partial";
    const Fd descriptor = TRY(open_partial(partial));
    auto outcome = fetch([&](std::string_view piece) { return write_all(descriptor.get(), piece); });
    if (outcome.ok() && ::fsync(descriptor.get()) != 0) outcome = system_error("write " + partial, errno);
    if (outcome.ok() && ::rename(partial.c_str(), file.c_str()) != 0)
        outcome = system_error("rename to " + file, errno);
    if (outcome.ok()) return sync_directory_of(file);
    ::unlink(partial.c_str());
    return outcome;
}

Result<> fetch_to(const Context& context, const Fetch& fetch, const std::string& file) {
    if (file == "-")
        return fetch([&](std::string_view piece) -> Result<> {
            context.console.print(piece);
            if (context.console.is_output_gone()) return conflict("the output was closed");
            if (const auto& error = context.console.output_error()) return *error;
            return {};
        });
    struct stat status {};
    const bool exists = ::stat(file.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return context.usage(safe_line(file) + " is a directory; give a file name");
    if (!exists || S_ISREG(status.st_mode)) return fetch_and_rename(fetch, file);
    // A pipe or a device must be written to, not replaced.
    const Fd descriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!descriptor.is_open()) return system_error("write " + file, errno);
    return fetch([&](std::string_view piece) { return write_all(descriptor.get(), piece); });
}

} // namespace

Result<> download_to_file(const Context& context, const Call& call, std::string_view content_type,
                          const std::string& file) {
    uint64_t bytes = 0;
    {
        Progress progress(context, "", bytes_text);
        const Fetch fetch = [&](const std::function<Result<>(std::string_view)>& sink) {
            return context.remote.stream(call, content_type, [&](std::string_view piece) -> Result<> {
                TRY(sink(piece));
                progress.add(piece.size());
                return {};
            });
        };
        TRY(fetch_to(context, fetch, file));
        bytes = progress.amount();
    }
    if (file == "-") return {};
    return show_done(context, json::Object{{"file", file}, {"bytes", bytes}},
                     "Wrote " + bytes_text(bytes) + " to " + file + ".");
}

Result<> download_to_console(const Context& context, const Call& call, std::string_view content_type) {
    JsonGuard guard;
    const bool guarded = context.console.is_output_terminal();
    TRY(context.remote.stream(call, content_type, [&](std::string_view piece) -> Result<> {
        context.console.print(guarded ? guard.feed(piece) : std::string(piece));
        if (context.console.is_output_gone()) return conflict("the output was closed");
        if (const auto& error = context.console.output_error()) return *error;
        return {};
    }));
    context.console.print(guard.finish());
    return {};
}

} // namespace hone::cli
