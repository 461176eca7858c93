#include "sandbox/image/image.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/image/decompress.h"
#include "sandbox/image/tar_reader.h"
#include "sandbox/image/tree.h"
#include "sandbox/image/unpack.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

// Writes archives, also ones that no decent program would write.
class Tar {
public:
    Tar& add(const std::string& name, char type, const std::string& content = "", const std::string& target = "",
             unsigned mode = 0644) {
        std::string block(512, '\0');
        name.copy(block.data(), 100);
        put(block, 100, "%07o", mode);
        put(block, 108, "%07o", 0);
        put(block, 116, "%07o", 0);
        put(block, 124, "%011llo", static_cast<unsigned long long>(content.size()));
        put(block, 136, "%011llo", 1'000'000'000ull);
        block[156] = type;
        target.copy(block.data() + 157, 100);
        std::string("ustar\0"
                    "00",
                    8)
            .copy(block.data() + 257, 8);
        seal(block);
        m_bytes += block + content + std::string((512 - content.size() % 512) % 512, '\0');
        return *this;
    }
    Tar& file(const std::string& name, const std::string& content = "x") { return add(name, '0', content); }
    Tar& link(const std::string& name, const std::string& target) { return add(name, '2', "", target); }
    std::string bytes() const { return m_bytes + std::string(1024, '\0'); }

    // A header that claims a size and brings nothing.
    static std::string bomb(const std::string& name, const char* octal_size) {
        std::string block = Tar().file(name, "").bytes().substr(0, 512);
        std::string(octal_size).copy(block.data() + 124, 12);
        seal(block);
        return block;
    }

private:
    template <class Number>
    static void put(std::string& block, size_t offset, const char* format, Number number) {
        char text[32];
        const int length = std::snprintf(text, sizeof text, format, number);
        std::string(text, static_cast<size_t>(length)).copy(block.data() + offset, static_cast<size_t>(length));
    }
    static void seal(std::string& block) {
        std::string(8, ' ').copy(block.data() + 148, 8);
        unsigned sum = 0;
        for (const char c : block) sum += static_cast<unsigned char>(c);
        put(block, 148, "%06o", sum);
        block[154] = '\0';
        block[155] = ' ';
    }
    std::string m_bytes;
};

std::string gzip(const std::string& bytes) {
    z_stream state{};
    deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string packed(bytes.size() + 1024, '\0');
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    state.avail_in = static_cast<uInt>(bytes.size());
    state.next_out = reinterpret_cast<Bytef*>(packed.data());
    state.avail_out = static_cast<uInt>(packed.size());
    deflate(&state, Z_FINISH);
    packed.resize(state.total_out);
    deflateEnd(&state);
    return packed;
}

std::string zstd(const std::string& bytes) {
    std::string packed(ZSTD_compressBound(bytes.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
    return packed;
}

Result<UnpackReport> unpack(const std::string& bytes, const std::string& directory, bool layer = false,
                            TarLimits limits = {}) {
    const Fd input(::memfd_create("archive", MFD_CLOEXEC));
    REQUIRE(write_all(input.get(), bytes).ok());
    ::lseek(input.get(), 0, SEEK_SET);
    (void)make_directories(directory, 0755).ok();
    return unpack_stream(input.get(), Fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY)), layer, limits);
}

std::string sha256(const std::string& bytes) {
    crypto::Sha256 digest;
    digest.add(bytes);
    return to_hex(digest.finish());
}

// An OCI layout of these layers.
void write_layout(const std::string& directory, const std::vector<std::string>& layers) {
    REQUIRE(make_directories(directory + "/blobs/sha256").ok());
    const auto blob = [&](const std::string& bytes) {
        REQUIRE(write_file(directory + "/blobs/sha256/" + sha256(bytes), bytes, 0644).ok());
        return "{\"digest\":\"sha256:" + sha256(bytes) + "\"}";
    };
    std::string list;
    for (const std::string& layer : layers) list += (list.empty() ? "" : ",") + blob(layer);
    const std::string manifest = blob("{\"layers\":[" + list + "]}");
    REQUIRE(write_file(directory + "/index.json", "{\"manifests\":[" + manifest + "]}").ok());
    REQUIRE(write_file(directory + "/oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}").ok());
}

bool exists(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

} // namespace

TEST_CASE("files, directories and links come out of plain, gzip and zstd archives") {
    Folder folder;
    const std::string archive = Tar()
                                    .add("./", '5', "", "", 0755)
                                    .add("etc/", '5', "", "", 0500)
                                    .file("./etc/name", "content")
                                    .add("bin/tool", '0', "#!/bin/sh\n", "", 04755)
                                    .add("bin/same", '1', "", "bin/tool")
                                    .link("lib", "usr/lib")
                                    .bytes();
    int number = 0;
    for (const std::string& bytes :
         {archive, gzip(archive), zstd(archive), gzip(archive.substr(0, 700)) + gzip(archive.substr(700))}) {
        const std::string to = folder.path + "/" + std::to_string(number++);
        auto report = unpack(bytes, to);
        REQUIRE_MESSAGE(report.ok(), report.error().message);
        CHECK(report.value().entries == 5);
        CHECK(read_file(to + "/etc/name").value() == "content");
        struct stat tool {
        }, same{};
        REQUIRE(::stat((to + "/bin/tool").c_str(), &tool) == 0);
        REQUIRE(::stat((to + "/bin/same").c_str(), &same) == 0);
        CHECK((tool.st_mode & 07777) == 0755); // no set-id bit
        CHECK(tool.st_ino == same.st_ino);
        CHECK(tool.st_mtim.tv_sec == 1'000'000'000);
    }
}

TEST_CASE("long names come from GNU and pax headers") {
    Folder folder;
    const std::string deep = "a/" + std::string(120, 'n') + "/" + std::string(120, 'm');
    const std::string record = " path=pax/" + std::string(150, 'p') + "\n";
    auto report = unpack(Tar()
                             .add("././@LongLink", 'L', deep + '\0')
                             .file("cut", "gnu")
                             .add("x", 'x', std::to_string(record.size() + 3) + record)
                             .file("cut", "pax")
                             .bytes(),
                         folder.path + "/to");
    REQUIRE_MESSAGE(report.ok(), report.error().message);
    CHECK(read_file(folder.path + "/to/" + deep).value() == "gnu");
    CHECK(read_file(folder.path + "/to/pax/" + std::string(150, 'p')).value() == "pax");
}

TEST_CASE("no name, link or device of an archive leads out of its directory") {
    Folder folder;
    REQUIRE(write_file(folder.path + "/outside", "kept").ok());
    const std::string to = folder.path + "/to";
    CHECK(unpack(Tar().file("../outside", "evil").bytes(), to).error().code == Code::invalid);
    CHECK(unpack(Tar().file("a/../../outside", "evil").bytes(), to).error().code == Code::invalid);
    CHECK(unpack(Tar().add("hard", '1', "", "../outside").bytes(), to).error().code == Code::invalid);
    // An absolute name means the archive's own root.
    CHECK(unpack(Tar().file(folder.path + "/outside", "evil").bytes(), to).ok());
    // Through a link that points out: the link is read as if the directory were the root.
    CHECK(
        unpack(
            Tar().link("up", "../..").link("abs", folder.path).file("up/outside", "evil").file("abs/x", "evil").bytes(),
            to)
            .ok());
    // A hard link to a link to the outside is a link, not the file.
    auto report = unpack(Tar().link("sneak", folder.path + "/outside").add("hard", '1', "", "sneak").bytes(), to);
    CHECK(report.ok());
    CHECK(unpack(Tar().file("hard", "evil").bytes(), to).ok());
    CHECK(read_file(folder.path + "/outside").value() == "kept");
    CHECK_FALSE(exists(folder.path + "/x"));
    CHECK(exists(to + "/outside"));
    report = unpack(Tar().add("dev/sda", '4').add("pipe", '6').add("dev/null", '3').file("after").bytes(), to);
    REQUIRE(report.ok());
    CHECK(report.value().skipped == 3);
    CHECK_FALSE(exists(to + "/dev/sda"));
    CHECK(exists(to + "/after"));
}

TEST_CASE("bombs are refused before they are written") {
    Folder folder;
    const std::string to = folder.path + "/to";
    CHECK(unpack(Tar::bomb("huge", "77777777777"), to, false, {10, 1000}).error().code == Code::too_large);
    CHECK(unpack(Tar::bomb("huge", "\x80\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00"), to, false, {10, 1000}).ok() ==
          false);
    Tar many;
    for (int i = 0; i < 20; ++i) many.file("f" + std::to_string(i), std::string(100, 'x'));
    CHECK(unpack(many.bytes(), to, false, {10, 100'000}).error().code == Code::too_large);
    CHECK(unpack(many.bytes(), to, false, {100, 1000}).error().code == Code::too_large);
    // A gigabyte of zeros in a megabyte.
    Tar zeros;
    zeros.file("zeros", std::string(32 << 20, '\0'));
    CHECK(unpack(gzip(zeros.bytes()), to, false, {10, 1 << 20}).error().code == Code::too_large);
    CHECK_FALSE(exists(to + "/zeros"));
}

TEST_CASE("damaged archives are reported") {
    Folder folder;
    const std::string to = folder.path + "/to";
    const std::string good = Tar().file("name", std::string(2000, 'x')).bytes();
    CHECK(unpack("", to).error().code == Code::corrupt);
    CHECK(unpack(std::string(2000, 'a'), to).error().code == Code::corrupt);
    CHECK(unpack(good.substr(0, 1500), to).error().code == Code::corrupt);
    CHECK(unpack(gzip(good).substr(0, 40), to).error().code == Code::corrupt);
    CHECK(unpack(zstd(good).substr(0, 40), to).error().code == Code::corrupt);
    std::string changed = good;
    changed[3] = 'X';
    CHECK(unpack(changed, to).error().code == Code::corrupt);
}

TEST_CASE("a layer hides what lies below, not what it brings itself") {
    Folder folder;
    const std::string to = folder.path + "/to";
    REQUIRE(unpack(Tar()
                       .file("gone")
                       .file("dir/old")
                       .file("dir/sub/old")
                       .file("tree/a/b")
                       .file("becomes/dir/x")
                       .file("kept")
                       .bytes(),
                   to, true)
                .ok());
    auto report = unpack(Tar()
                             .file("dir/new")
                             .file("dir/.wh..wh..opq", "")
                             .file(".wh.gone", "")
                             .file(".wh.tree", "")
                             .file("becomes", "a file")
                             .file(".wh...", "")
                             .bytes(),
                         to, true);
    REQUIRE_MESSAGE(report.ok(), report.error().message);
    CHECK_FALSE(exists(to + "/gone"));
    CHECK_FALSE(exists(to + "/tree"));
    CHECK_FALSE(exists(to + "/dir/old"));
    CHECK_FALSE(exists(to + "/dir/sub"));
    CHECK(exists(to + "/dir/new"));
    CHECK(exists(to + "/kept"));
    CHECK(read_file(to + "/becomes").value() == "a file");
    CHECK_FALSE(exists(to + "/.wh.gone"));
}

TEST_CASE("an OCI layout is read down to its layers, and a blob cannot point elsewhere") {
    Folder folder;
    const std::string digest(64, 'a');
    REQUIRE(make_directories(folder.path + "/blobs/sha256").ok());
    REQUIRE(write_file(folder.path + "/index.json", R"({"manifests":[{"digest":"sha256:)" + digest + R"("}]})").ok());
    REQUIRE(write_file(folder.path + "/blobs/sha256/" + digest,
                       R"({"layers":[{"digest":"sha256:)" + std::string(64, 'b') + R"("}]})")
                .ok());
    auto layers = oci_layers(folder.path);
    REQUIRE(layers.ok());
    REQUIRE(layers.value().size() == 1);
    CHECK(layers.value()[0].path == folder.path + "/blobs/sha256/" + std::string(64, 'b'));
    REQUIRE(
        write_file(folder.path + "/blobs/sha256/" + digest, R"({"layers":[{"digest":"sha256:../../../etc/passwd"}]})")
            .ok());
    CHECK_FALSE(oci_layers(folder.path).ok());
}

TEST_CASE("an image is added from a tar, a layout and a directory, runs, and is removed") {
    Folder folder;
    const auto provider = open_provider(folder);
    const Store store = Store::open(folder.path).value();
    ImageOptions options;
    options.program = hone_program();
    // The static pid 1 is a program that needs nothing of a root.
    const std::string program =
        read_file(hone_program().substr(0, hone_program().rfind('/')) + "/hone-init", 16 << 20).value();
    const std::string base =
        Tar().add("bin/init", '0', program, "", 0755).file("etc/old").file("etc/kept", "one").bytes();
    REQUIRE(write_file(folder.path + "/base.tar", base).ok());
    write_layout(folder.path + "/layout",
                 {gzip(base), zstd(Tar().file("etc/.wh.old", "").file("etc/kept", "two").bytes())});
    REQUIRE(make_directories(folder.path + "/tree/etc").ok());
    REQUIRE(write_file(folder.path + "/tree/etc/kept", "three").ok());

    const auto content = [&](const std::string& image, const std::string& path) {
        const auto text = read_file(store.images() + "/" + image + "/root/" + path, 16 << 20);
        return text.ok() ? text.value() : text.error().message;
    };
    for (const auto& [name, source] : {std::pair{"plain", "/base.tar"}, {"layers", "/layout"}, {"tree", "/tree"}}) {
        auto added = add_image(*provider, store, name, folder.path + source, options);
        REQUIRE_MESSAGE(added.ok(), added.error().message);
    }
    CHECK(content("plain", "etc/kept") == "one");
    CHECK(content("layers", "etc/kept") == "two");
    CHECK_FALSE(exists(store.images() + "/layers/root/etc/old"));
    CHECK(content("tree", "etc/kept") == "three");
    CHECK(list_images(store).value().size() == 3);
    CHECK(add_image(*provider, store, "plain", folder.path + "/base.tar", options).error().code == Code::conflict);

    SandboxSpec spec;
    Command command;
    command.argv = {"/bin/init"}; // ends at once: it has no socket to its shim there
    spec.command = command;
    spec.root = std::string("layers");
    const auto sandbox = start(*provider, spec);
    CHECK(remove_image(store, "layers").error().code == Code::busy);
    CHECK(sandbox->wait(0).value().exit_code.has_value());
    REQUIRE(sandbox->destroy().ok());
    CHECK(remove_image(store, "layers").ok());
    CHECK(remove_image(store, "layers").error().code == Code::not_found);

    // Not what its digest says, too large, and hostile: refused, and nothing of it stays.
    const std::string blob = folder.path + "/layout/blobs/sha256/" + sha256(gzip(base));
    REQUIRE(write_file(blob, gzip(Tar().file("evil").bytes())).ok());
    CHECK(add_image(*provider, store, "bad", folder.path + "/layout", options).error().code == Code::corrupt);
    REQUIRE(write_file(folder.path + "/bad.tar", Tar().file("../../evil").bytes()).ok());
    CHECK(add_image(*provider, store, "bad", folder.path + "/bad.tar", options).error().code == Code::invalid);
    options.most_bytes = 10;
    CHECK_FALSE(add_image(*provider, store, "bad", folder.path + "/base.tar", options).ok());
    CHECK(list_images(store).value().size() == 2);
    CHECK_FALSE(exists(store.images() + "/.new-bad"));
}
