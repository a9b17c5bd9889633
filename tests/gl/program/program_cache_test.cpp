// SPDX-License-Identifier: Apache-2.0
// Programs that the driver compiled once: found by its names and their texts, and refused where the
// driver does not take them.
#include "gl/program/program_cache.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "gl/worker.h"
#include "halyard/gl.h"
#include "halyard/log.h"
#include "support/folder.h"
#include "support/result.h"
#include "support/variable.h"

namespace halyard::test {
namespace {

namespace fs = std::filesystem;
using gl::ProgramCache;
using gl::ProgramText;

constexpr ProgramText texts{
    "#version 300 es\nvoid main() { gl_Position = vec4(float(gl_VertexID), 0.0, 0.0, 1.0); }\n",
    "#version 300 es\nprecision highp float;\nuniform float scale;\nout vec4 result;\n"
    "void main() { result = vec4(scale); }\n"};
constexpr ProgramText other_texts{texts.vertex, "#version 300 es\nvoid main() {}\n"};

GLuint link(const ProgramCache& cache) {
  const GLuint program = glCreateProgram();
  for (const auto& [kind, text] :
       {std::pair(GL_VERTEX_SHADER, texts.vertex), std::pair(GL_FRAGMENT_SHADER, texts.fragment)}) {
    const GLuint shader = glCreateShader(static_cast<GLenum>(kind));
    const std::string source(text);
    const char* const pointer = source.c_str();
    glShaderSource(shader, 1, &pointer, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
  }
  cache.prepare(program);
  glLinkProgram(program);
  return program;
}

class ProgramCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    if (!worker_->capabilities().program_binaries) GTEST_SKIP() << "this driver has no binaries";
    env_.shader_cache = folder_.path();
  }
  void on_worker(const std::function<void()>& work) const {
    EXPECT_OK(worker_->run([&]() -> Status {
      work();
      EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
      return {};
    }));
  }
  /// Whether a cache of its own finds the program.
  bool finds(const ProgramText& text) const {
    ProgramCache cache = ProgramCache::create(env_);
    const GLuint program = cache.find(text);
    const bool is_used = program != 0 && glGetUniformLocation(program, "scale") >= 0;
    glDeleteProgram(program);
    return is_used;
  }
  void keep_one() const {
    ProgramCache cache = ProgramCache::create(env_);
    const GLuint program = link(cache);
    cache.keep(program, texts);
    glDeleteProgram(program);
  }
  std::string only_file() const { return fs::directory_iterator(folder_.path())->path().string(); }
  /// The key of the only file: after 40 bytes of numbers, the third of which is its length.
  std::string key() const {
    std::ifstream in(only_file(), std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + 16, sizeof size);
    return file.substr(40, size);
  }

  Folder folder_;
  Environment env_;
  std::shared_ptr<gl::Worker> worker_;
};

TEST_F(ProgramCacheTest, a_program_that_was_kept_is_found_without_compiling) {
  on_worker([&] {
    EXPECT_FALSE(finds(texts));
    keep_one();
    EXPECT_EQ(folder_.entries(), 1U);
    const std::uint64_t before = gl::cached_programs();
    EXPECT_TRUE(finds(texts));
    EXPECT_EQ(gl::cached_programs(), before + 1);
    EXPECT_FALSE(finds(other_texts));
  });
}

TEST_F(ProgramCacheTest, its_key_has_the_names_of_the_driver) {
  on_worker([&] {
    keep_one();
    for (const std::string& part :
         {worker_->capabilities().vendor, worker_->capabilities().renderer,
          worker_->capabilities().version, std::string(texts.vertex), std::string(texts.fragment)})
      EXPECT_NE(key().find(part), std::string::npos) << part;
  });
}

TEST_F(ProgramCacheTest, what_the_driver_refuses_is_not_found) {
  on_worker([&] {
    keep_one();
    const std::string known = key();
    ASSERT_VALUE(const auto files, gl::BinaryFiles::open(folder_.path()));
    const auto good = files.find(known);
    ASSERT_TRUE(good);
    gl::ProgramBinary wrong = *good;
    for (std::byte& byte : wrong.bytes)
      byte = static_cast<std::byte>(std::to_integer<int>(byte) ^ 0x5A);
    ASSERT_OK(files.keep(known, wrong));
    EXPECT_FALSE(finds(texts));
    wrong = *good;
    wrong.bytes.resize(wrong.bytes.size() / 2);
    ASSERT_OK(files.keep(known, wrong));
    EXPECT_FALSE(finds(texts));
    wrong = *good;
    wrong.format = 0x1234;
    ASSERT_OK(files.keep(known, wrong));
    EXPECT_FALSE(finds(texts));
    ASSERT_OK(files.keep(known, *good));
    EXPECT_TRUE(finds(texts));
  });
}

TEST_F(ProgramCacheTest, does_nothing_where_it_is_off_or_has_no_folder) {
  on_worker([&] {
    for (const std::string& setting : {std::string("off"), std::string("relative/folder"),
                                       std::string("/proc/there is no such folder")}) {
      env_.shader_cache = setting;
      keep_one();
      EXPECT_FALSE(finds(texts)) << setting;
    }
    env_.shader_cache.reset();
    env_.cache_home.reset();
    keep_one();
    EXPECT_FALSE(finds(texts));
  });
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(ProgramCacheTest, a_folder_that_was_asked_for_and_cannot_be_used_is_logged) {
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel level, std::string_view, std::string_view text) {
    if (level == LogLevel::warn) lines.emplace_back(text);
  });
  on_worker([&] {
    fs::permissions(folder_.path(), fs::perms::group_read, fs::perm_options::add);
    ProgramCache::create(env_);
    env_.shader_cache = "off";
    ProgramCache::create(env_);
    env_.shader_cache.reset();
    ProgramCache::create(env_);
  });
  set_log_sink({});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("mode 0700"), std::string::npos) << lines[0];
}

TEST_F(ProgramCacheTest, describe_gl_tells_where_it_is) {
  const auto told = [] {
    const auto report = describe_gl().value();
    return std::ranges::find(report.properties, "shader cache", &GlReport::Property::name)->value;
  };
  const Variable allow("HALYARD_ALLOW_SOFTWARE_GL", "1");
  const Variable cache("HALYARD_SHADER_CACHE", folder_.path());
  EXPECT_EQ(told(), folder_.path());
  fs::permissions(folder_.path(), fs::perms::group_read, fs::perm_options::add);
  EXPECT_EQ(told(), "no");
  const Variable off("HALYARD_SHADER_CACHE", "off");
  EXPECT_EQ(told(), "no");
}

TEST_F(ProgramCacheTest, is_in_the_users_folder_of_caches) {
  env_.shader_cache.reset();
  env_.cache_home = folder_.path();
  on_worker([&] {
    keep_one();
    EXPECT_TRUE(finds(texts));
  });
  EXPECT_TRUE(fs::exists(folder_ / "halyard/shaders"));
}

TEST_F(ProgramCacheTest, a_disk_that_cannot_be_written_is_no_error) {
  on_worker([&] {
    ProgramCache cache = ProgramCache::create(env_);
    fs::remove_all(folder_.path());
    const GLuint program = link(cache);
    cache.keep(program, texts);
    EXPECT_EQ(cache.find(texts), 0U);
    fs::create_directory(folder_.path());
    cache.keep(program, texts);
    glDeleteProgram(program);
  });
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST(ShaderCacheFolder, follows_the_variables) {
  Environment env;
  EXPECT_FAILS(gl::shader_cache_folder(env), Errc::unsupported, "neither XDG_CACHE_HOME nor HOME");
  env.cache_home = "/a/.cache";
  EXPECT_EQ(gl::shader_cache_folder(env).value(), "/a/.cache/halyard/shaders");
  env.shader_cache = "/b";
  EXPECT_EQ(gl::shader_cache_folder(env).value(), "/b");
  for (const char* off : {"off", "OFF", "0", "false"}) {
    env.shader_cache = off;
    EXPECT_FAILS(gl::shader_cache_folder(env), Errc::unsupported, "switched off");
  }
  env.shader_cache = "b";
  EXPECT_FAILS(gl::shader_cache_folder(env), Errc::unsupported, "must be off or an absolute path");
}

}  // namespace
}  // namespace halyard::test
