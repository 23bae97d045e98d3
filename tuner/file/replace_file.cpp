// SPDX-License-Identifier: Apache-2.0
#include "tuner/file/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ostream>
#include <streambuf>
#include <string>
#include <system_error>
#include <utility>

#include "tuner/text/format.hpp"
#include "tuner/text/random_bits.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAside = ".aside";
constexpr int kMostLinks = 40;
constexpr mode_t kPermissions = 07777;

std::system_error failure(const fs::path& file, int why) {
  return {why == 0 ? EIO : why, std::generic_category(),
          format("{}: cannot be written", file.string())};
}

/// Linux' rule of protected_symlinks, which not every system follows.
bool may_be_trap(const fs::path& link) {
  const fs::path folder = link.has_parent_path() ? link.parent_path() : ".";
  struct stat of_link {};
  struct stat of_folder {};
  if (lstat(link.c_str(), &of_link) != 0 || stat(folder.c_str(), &of_folder) != 0) return false;
  const bool shared = (of_folder.st_mode & S_ISVTX) != 0 && (of_folder.st_mode & S_IWOTH) != 0;
  return shared && of_link.st_uid != geteuid() && of_link.st_uid != of_folder.st_uid;
}

/// The path after following links, whether or not a file exists there. Links in /proc, to which
/// /dev/stdout leads, are open descriptors, not names.
fs::path end_of_links(fs::path file) {
  std::error_code failed;
  for (int i = 0; fs::is_symlink(file, failed) && !file.string().starts_with("/proc/"); ++i) {
    if (i == kMostLinks) throw failure(file, ELOOP);
    if (may_be_trap(file)) throw failure(file, EACCES);
    file = file.parent_path() / fs::read_symlink(file, failed);
    if (failed) throw failure(file, failed.value());
  }
  return file;
}

/// Writes to a descriptor, and remembers why that failed.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) { empty(); }
  int why() const { return why_; }

 protected:
  int_type overflow(int_type letter) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(letter, traits_type::eof())) {
      sputc(traits_type::to_char_type(letter));
    }
    return traits_type::not_eof(letter);
  }
  int sync() override {
    for (const char* at = pbase(); at != pptr();) {
      const ssize_t written = ::write(descriptor_, at, static_cast<std::size_t>(pptr() - at));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        why_ = errno;
        return -1;
      }
      at += written;
    }
    empty();
    return 0;
  }

 private:
  void empty() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

  const int descriptor_;
  int why_ = 0;
  std::array<char, 1 << 16> buffer_;
};

/// `file` is for the message.
void write_stream(int descriptor, const fs::path& file,
                  const std::function<void(std::ostream&)>& write) {
  DescriptorBuffer buffer(descriptor);
  std::ostream stream(&buffer);
  try {
    write(stream);
  } catch (...) {  // the stream's failure comes first: it has the reason
    if (stream) throw;
  }
  if (!stream.flush()) throw failure(file, buffer.why());
}

/// Devices and pipes do not support it.
void flush_to_disk(int descriptor, const fs::path& file) {
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) throw failure(file, errno);
}

/// Writes what is there: a device, a pipe, or an open descriptor under /proc.
void write_in_place(const fs::path& target, const fs::path& file,
                    const std::function<void(std::ostream&)>& write) {
  const int descriptor = open(target.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0) throw failure(file, errno);
  try {
    write_stream(descriptor, file, write);
    flush_to_disk(descriptor, file);
  } catch (...) {
    close(descriptor);
    throw;
  }
  close(descriptor);
}

}  // namespace

namespace fs = std::filesystem;

std::string_view shared_file_system_of_type(long type) {
  switch (type & 0xffffffffL) {
    case 0x6969:
      return "NFS";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0xFF534D42:
    case 0xFE534D42:
      return "SMB";
    default:
      return "";
  }
}

std::string_view shared_file_system(const fs::path& file) {
  std::error_code failed;
  for (fs::path path = fs::absolute(file, failed); !failed; path = path.parent_path()) {
    struct statfs status {};
    if (statfs(path.c_str(), &status) == 0) return shared_file_system_of_type(status.f_type);
    if (path == path.root_path()) break;
  }
  return "";
}

AsideFile::AsideFile(fs::path file, mode_t mode) : file_(std::move(file)) {
  struct stat old {};
  const bool replaces = stat(file_.c_str(), &old) == 0;
  if (replaces) mode = old.st_mode & kPermissions;
  do {
    path_ = format("{}.{:016x}{}", file_.string(), random_bits(), kAside);
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) throw failure(file_, errno);
  if (replaces) fchmod(descriptor_, mode);  // without the umask
}

AsideFile::~AsideFile() {
  close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
}

void AsideFile::rename_to(const fs::path& file) {
  if (rename(path_.c_str(), file.c_str()) != 0) throw failure(file_, errno);
  path_.clear();
}

void write_file(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  const fs::path target = end_of_links(file);
  std::error_code failed;
  const fs::file_status old = fs::status(target, failed);
  if (fs::is_directory(old)) throw failure(file, EISDIR);
  if (fs::exists(old) && access(target.c_str(), W_OK) != 0) throw failure(file, errno);
  const bool is_name = !fs::is_symlink(target, failed);
  if (fs::exists(old) && !(fs::is_regular_file(old) && is_name)) {
    return write_in_place(target, file, write);
  }
  AsideFile aside(target);
  write_stream(aside.descriptor(), file, write);
  flush_to_disk(aside.descriptor(), file);
  aside.rename_to(target);
}

void write_private_file(const fs::path& file, std::string_view bytes) {
  AsideFile aside(file, 0600);
  write_stream(aside.descriptor(), file, [&](std::ostream& stream) { stream << bytes; });
  aside.rename_to(file);
}

bool is_aside(const fs::path& path) {
  const std::string random = path.stem().extension().string();
  return path.extension() == kAside && random.size() == 17 &&
         random.find_first_not_of("0123456789abcdef", 1) == random.npos;
}

}  // namespace autotune
