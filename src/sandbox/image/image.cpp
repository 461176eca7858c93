#include "sandbox/image/image.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/image/tree.h"
#include "sandbox/wall/enter.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr size_t most_manifest_bytes = 4 << 20;
constexpr const char* unpack_place = "/home/worker/root";
constexpr const char* unpacker_place = "/opt/hone";

// What goes into the sandbox: a file as it is, or a directory as a tar stream.
struct Archive {
    Fd stream;
    pid_t packer = 0;
    std::string sha256; // that it must have; empty: any
    bool layer = false; // with white-outs for what is below
};

Result<Archive> open_archive(const std::string& path) {
    Archive archive;
    archive.stream = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!archive.stream.is_open()) return system_error("open " + path, errno);
    return archive;
}

Result<Archive> pack_directory(const std::string& directory) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pack " + directory, errno);
    Archive archive;
    archive.stream = Fd(ends[0]);
    const Fd writer(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
    std::vector<std::string> texts{"tar", "-C", directory, "--one-file-system", "-cf", "-", "."};
    std::vector<char*> arguments;
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    const int failed = ::posix_spawn(&archive.packer, "/usr/bin/tar", &actions, nullptr, arguments.data(), ::environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return system_error("run tar", failed);
    return archive;
}

// An unpacker that hangs up must not end this process: the write returns an error.
class NoPipeSignal {
public:
    NoPipeSignal() {
        sigemptyset(&m_pipe);
        sigaddset(&m_pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &m_pipe, &m_before);
    }
    ~NoPipeSignal() {
        const timespec now{};
        while (::sigtimedwait(&m_pipe, nullptr, &now) < 0 && errno == EINTR) {
        }
        ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    NoPipeSignal(const NoPipeSignal&) = delete;
    NoPipeSignal& operator=(const NoPipeSignal&) = delete;

private:
    sigset_t m_pipe{};
    sigset_t m_before{};
};

// Copies the archive to the unpacker, which may hang up when it has seen enough; then its digest does not matter.
Result<> pour(const Archive& archive, int input) {
    const NoPipeSignal quiet;
    crypto::Sha256 digest;
    std::vector<char> buffer(256 << 10);
    for (;;) {
        const ssize_t count = ::read(archive.stream.get(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error("read the archive", errno);
        if (count == 0) break;
        const std::string_view bytes(buffer.data(), static_cast<size_t>(count));
        digest.add(bytes);
        if (!write_all(input, bytes).ok()) return {};
    }
    if (!archive.sha256.empty() && to_hex(digest.finish()) != archive.sha256)
        return corrupt("OCI layout: a layer's content does not match its digest");
    return {};
}

// Runs the unpacker in the sandbox with the archive as its input.
Result<> feed(Sandbox& sandbox, const Archive& archive, const ImageOptions& options) {
    Command command;
    command.argv = {unpacker_place,
                    "image",
                    "unpack",
                    "--most-bytes",
                    std::to_string(options.most_bytes),
                    "--most-files",
                    std::to_string(options.most_files)};
    if (archive.layer) command.argv.push_back("--layer");
    command.env.value["ASAN_OPTIONS"] = "detect_leaks=0"; // a leak checker cannot trace in there
    command.cwd = std::string(unpack_place);
    command.open_stdin = true;
    const int64_t number = TRY(sandbox.execute(command));
    Result<> poured;
    {
        const Fd input = TRY(sandbox.input(number));
        TRY(sandbox.close_input(number)); // ours is the last one
        poured = pour(archive, input.get());
    }
    const CommandResult result = TRY(sandbox.wait(number));
    TRY(poured);
    if (result.exit_code && *result.exit_code == 0) return {};
    const Output said = TRY(sandbox.output(number, 0, 0));
    std::string text;
    for (const Output::Part& part : said.parts) text += part.bytes;
    if (result.error) text = *result.error;
    return invalid("could not unpack the image: " + repair_utf8(truncate_utf8(trim(text), 1000)));
}

bool is_digest(std::string_view digest) {
    if (!digest.starts_with("sha256:") || digest.size() != 71) return false;
    return std::all_of(digest.begin() + 7, digest.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<const json::Object*> object_of(const json::Value& value, const char* what) {
    if (!value.is_object()) return invalid(std::string("OCI layout: ") + what + " is not an object");
    return &value.get_object();
}

// The blob that a descriptor names.
Result<OciLayer> blob_of(const std::string& directory, const json::Value& descriptor) {
    const json::Object* object = TRY(object_of(descriptor, "a descriptor"));
    const json::Value* digest = object->if_contains("digest");
    const json::Value* type = object->if_contains("mediaType");
    if (digest == nullptr || !digest->is_string() || !is_digest(std::string_view(digest->get_string())))
        return invalid("OCI layout: a descriptor has no sha256 digest");
    OciLayer blob;
    blob.path = directory + "/blobs/sha256/" + std::string(std::string_view(digest->get_string()).substr(7));
    if (type != nullptr && type->is_string()) blob.media_type = std::string(type->get_string());
    return blob;
}

Result<> unpack(Sandbox& sandbox, const std::string& source, const ImageOptions& options) {
    struct stat status {};
    if (::stat(source.c_str(), &status) != 0) return system_error("open " + source, errno);
    if (!S_ISDIR(status.st_mode)) return feed(sandbox, TRY(open_archive(source)), options);
    if (!file_exists(source + "/oci-layout")) {
        Archive archive = TRY(pack_directory(source));
        auto outcome = feed(sandbox, archive, options);
        archive.stream.reset();
        ::kill(archive.packer, SIGTERM);
        ::waitpid(archive.packer, nullptr, 0);
        return outcome;
    }
    for (const OciLayer& layer : TRY(oci_layers(source))) {
        Archive archive = TRY(open_archive(layer.path));
        archive.sha256 = layer.path.substr(layer.path.rfind('/') + 1);
        archive.layer = true;
        TRY(feed(sandbox, archive, options));
    }
    return {};
}

Result<std::string> program_path(const std::string& given) {
    if (!given.empty()) return given;
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return system_error("find this program", errno);
    return std::string(path, static_cast<size_t>(length));
}

std::string digest_of(const std::string& source, const TreeSize& size) {
    const auto index = read_file(source + "/index.json", most_manifest_bytes);
    if (index.ok()) return to_hex(crypto::hash(index.value()));
    struct stat status {};
    ::stat(source.c_str(), &status);
    return to_hex(crypto::hash(source + " " + std::to_string(status.st_mtim.tv_sec) + " " +
                               std::to_string(status.st_size) + " " + std::to_string(size.bytes) + " " +
                               crypto::random_token(16)));
}

Result<> fill(Provider& provider, const std::string& root, const std::string& source, const ImageOptions& options) {
    SandboxSpec spec;
    spec.mounts.value.push_back({root, unpack_place, false});
    spec.mounts.value.push_back({TRY(program_path(options.program)), unpacker_place, true});
    spec.keep = true;
    spec.limits.value.disk_inodes = int64_t{4096};
    spec.labels.value["purpose"] = "image";
    auto sandbox = TRY(provider.start(spec));
    auto outcome = unpack(*sandbox, source, options);
    TRY(sandbox->destroy());
    return outcome;
}

Result<ImageView> read_view(const Store& store, const std::string& name) {
    const std::string text = TRY(read_file(store.images() + "/" + name + "/image.json", 1 << 20));
    return json::read<ImageView>(text);
}

} // namespace

Result<std::vector<OciLayer>> oci_layers(const std::string& directory) {
    json::Value document = TRY(json::parse(TRY(read_file(directory + "/index.json", most_manifest_bytes))));
    // An index may point to an index (one per platform); two steps down is enough for every tool.
    for (int depth = 0; depth < 3; ++depth) {
        const json::Object* object = TRY(object_of(document, "the index"));
        if (const json::Value* layers = object->if_contains("layers"); layers != nullptr && layers->is_array()) {
            std::vector<OciLayer> list;
            for (const json::Value& descriptor : layers->get_array())
                list.push_back(TRY(blob_of(directory, descriptor)));
            if (list.empty() || list.size() > 512) return invalid("OCI layout: an image has 1 to 512 layers");
            return list;
        }
        const json::Value* manifests = object->if_contains("manifests");
        if (manifests == nullptr || !manifests->is_array() || manifests->get_array().empty()) break;
        const OciLayer blob = TRY(blob_of(directory, manifests->get_array()[0]));
        json::Value next = TRY(json::parse(TRY(read_file(blob.path, most_manifest_bytes))));
        document = std::move(next);
    }
    return invalid("OCI layout: no manifest with layers");
}

Result<ImageView> add_image(Provider& provider, const Store& store, const std::string& name, const std::string& source,
                            const ImageOptions& options) {
    if (!is_plain_name(name) || name == "host")
        return invalid("not a name for an image: " + quote_json(truncate_utf8(name, 60)));
    const std::string place = store.images() + "/" + name;
    Fd alone;
    int64_t version = 1;
    if (options.replace) {
        alone = store.try_alone(place);
        if (!alone.is_open())
            return busy("image " + name + " is in use: wait for its sandboxes, or give the new one another name");
        if (const auto before = read_view(store, name); before.ok()) version = *before.value().version + 1;
    } else {
        alone = TRY(store.hold_alone(place));
        if (file_exists(place)) return conflict("image " + name + " exists");
    }
    const std::string beside = store.images() + "/.new-" + name;
    TRY(remove_tree(beside));
    TRY(make_directories(beside + "/root", 0755));
    if (::geteuid() == 0 && ::chown((beside + "/root").c_str(), inside_uid, inside_uid) != 0)
        return system_error("create the image", errno);
    if (auto filled = fill(provider, beside + "/root", source, options); !filled.ok()) {
        (void)store.discard(beside).ok();
        return std::move(filled).error();
    }
    const Fd opened(::open((beside + "/root").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const TreeSize size = measure_tree(opened.get(), INT64_MAX);
    ImageView view{name,
                   options.source.empty() ? source : options.source,
                   digest_of(source, size),
                   size.bytes,
                   size.files,
                   SystemClock().now(),
                   version,
                   options.environment};
    TRY(write_file(beside + "/digest", view.digest));
    TRY(write_file(beside + "/image.json", json::write(view)));
    TRY(sync_file_system(beside)); // what is listed is whole
    if (options.replace) TRY(store.discard(place));
    if (::rename(beside.c_str(), place.c_str()) != 0) return system_error("publish the image", errno);
    TRY(sync_directory(store.images()));
    return view;
}

Result<std::vector<ImageView>> list_images(const Store& store) {
    std::vector<ImageView> images;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(store.images().c_str()), ::closedir);
    if (!stream) return system_error("read " + store.images(), errno);
    while (const dirent* entry = ::readdir(stream.get())) {
        if (entry->d_name[0] == '.') continue;
        auto view = read_view(store, entry->d_name);
        if (view.ok()) images.push_back(std::move(view).value());
    }
    std::sort(images.begin(), images.end(), [](const ImageView& a, const ImageView& b) { return a.name < b.name; });
    return images;
}

Result<> remove_image(const Store& store, const std::string& name) {
    if (!is_plain_name(name)) return invalid("not the name of an image");
    const std::string place = store.images() + "/" + name;
    if (!file_exists(place)) return not_found("image " + name);
    const Fd alone = store.try_alone(place);
    if (!alone.is_open()) return busy("image " + name + " is in use");
    TRY(store.discard(place));
    ::unlink((place + ".lock").c_str());
    return {};
}

Result<std::vector<std::string>> prune_images(const Store& store, Time before) {
    std::vector<std::string> removed;
    for (const ImageView& image : TRY(list_images(store))) {
        struct stat status {};
        const std::string lock = store.images() + "/" + image.name + ".lock";
        const bool has_lock = ::stat(lock.c_str(), &status) == 0;
        const int64_t used_ns = has_lock ? status.st_mtim.tv_sec * 1'000'000'000 : 0;
        if (std::max(used_ns, to_ns(image.created)) >= to_ns(before)) continue;
        const auto outcome = remove_image(store, image.name);
        if (!outcome.ok() && outcome.error().code != Code::busy) return outcome.error();
        if (outcome.ok()) removed.push_back(image.name);
    }
    return removed;
}

std::map<std::string, std::string> image_environment(const Store& store, const std::string& root) {
    if (!is_plain_name(root) || root == "host") return {};
    const auto view = read_view(store, root);
    return view.ok() ? *view.value().environment : std::map<std::string, std::string>{};
}

} // namespace hone::sandbox
