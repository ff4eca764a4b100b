// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "descriptor.hpp"
#include "driver.hpp"
#include "stored.hpp"
#include "transfer.hpp"

#include <kontor/output/reader.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

/// Whether HDF5's signature is at one of the places where it may be.
bool has_signature(int descriptor, std::uint64_t bytes) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  std::array<char, signature.size()> found{};
  for (std::uint64_t place = 0; place + signature.size() <= bytes; place = place == 0 ? 512 : 2 * place)
    if (::pread(descriptor, found.data(), found.size(), static_cast<off_t>(place)) ==
            static_cast<ssize_t>(found.size()) &&
        std::string_view(found.data(), found.size()) == signature)
      return true;
  return false;
}

/// Puts values where they belong, box by box.
using StoreBytes = std::function<void(const Box&, const std::byte*)>;

hid_t type_in_memory(Scalar scalar) {
  switch (scalar) {
  case Scalar::float64: return native_type<double>();
  case Scalar::float32: return native_type<float>();
  case Scalar::int32: return native_type<std::int32_t>();
  case Scalar::int64: return native_type<std::int64_t>();
  }
  return H5I_INVALID_HID;
}

/// Throws Error unless its scalars and extents are these.
Handle open_values(hid_t file, const std::string& name, Scalar scalar, const Extents& extents) {
  Handle dataset = open_dataset(file, name);
  const Handle stored(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  if (name_of_type(stored) != name_of(scalar))
    throw Error(fmt::format("the values of {} are {}; {} is wanted", name, name_of_type(stored), name_of(scalar)));
  if (const auto found = extents_of(dataset, name); found != extents)
    throw Error(fmt::format("{} is ({}); ({}) is wanted", name, fmt::join(found, ", "), fmt::join(extents, ", ")));
  return dataset;
}

Json info_of(const Stored& stored, const std::string& name) {
  const Handle dataset = open_dataset(stored.file, name);
  require_room(stored, dataset, name);
  const Handle type(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  return {{"extents", extents_of(dataset, name)}, {"type", name_of_type(type)}};
}

} // namespace

// Groups, attributes and records are read by rank 0, which tells the others; values by the rank that wants them.
class Reader::Impl {
 public:
  Impl(MPI_Comm comm, fs::path path) : path_(std::move(path)) {
    check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    rank_ = my_rank(comm_);
    try {
      together([this] { open(); });
    } catch (const Error&) { // on all ranks
      MPI_Comm_free(&comm_);
      throw;
    }
  }
  ~Impl() {
    // Freeing the communicator is collective: an exception may be passing on this rank alone.
    if (std::uncaught_exceptions() == exceptions_) MPI_Comm_free(&comm_);
  }

  const fs::path& path() const { return path_; }

  /// What look(Stored) finds on rank 0, on all ranks.
  template <class Look>
  Json ask(const Look& look) const {
    std::string bytes;
    together([&] {
      if (rank_ == 0) Json::to_cbor(look(Stored{file_, bytes_}), bytes);
    });
    return Json::from_cbor(broadcast(comm_, std::move(bytes)));
  }

  void read(const std::string& name, const Block& block, const Strides& strides, bool any, Scalar scalar,
            std::byte* data, const StoreBytes& store) const {
    const hid_t type = type_in_memory(scalar);
    Handle dataset;
    together([&] {
      check_block(name, block, strides, any);
      dataset = open_values(file_, name, scalar, block.global);
    });
    together([&] {
      const std::size_t size = H5Tget_size(type);
      const Strides steps = strides.empty() ? contiguous_strides(block.extent) : strides;
      const Pieces pieces = pieces_of(block.extent, size);
      std::vector<std::byte> room;
      for (std::uint64_t n = 0; n < pieces.count(); ++n) {
        const Box piece = pieces[n], place = in_array(block, piece);
        std::byte* target = data ? data + byte_offset(piece.offset, steps, size) : nullptr;
        if (data && is_contiguous(piece.extent, steps)) {
          read_box(dataset, name, place, type, target);
          continue;
        }
        room.resize(elements(piece.extent) * size);
        read_box(dataset, name, place, type, room.data());
        if (data)
          copy(piece.extent, size, room.data(), contiguous_strides(piece.extent), target, steps);
        else
          store(piece, room.data());
      }
    });
  }

 private:
  template <class Call>
  void together(Call&& call) const {
    try {
      collectively(comm_, std::forward<Call>(call));
    } catch (const Error& error) {
      throw Error(fmt::format("cannot read {}: {}", path_.string(), error.what()), "E-FILE-FORMAT");
    }
  }
  void open() {
    start_hdf5();
    // Not blocking, since a pipe would be waited for.
    descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) throw Error(std::strerror(errno), "E-FILE-READ");
    if (!S_ISREG(status.st_mode))
      throw Error(S_ISDIR(status.st_mode) ? "it is a directory, not an HDF5 file" : "it is not a regular file",
                  "E-FILE-FORMAT");
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    if (!has_signature(descriptor_, bytes_))
      throw Error(fmt::format("it is not an HDF5 file: none of its {} bytes are HDF5's signature", bytes_),
                  "E-FILE-FORMAT");
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "the file");
    driver_.use_in(access, descriptor_, Driver::Beyond::error);
    file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "H5Fopen", "the file");
  }
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  fs::path path_;
  Descriptor descriptor_;
  std::uint64_t bytes_ = 0;
  Driver driver_;
  Handle file_;
  int exceptions_ = std::uncaught_exceptions();
};

Reader::Reader(MPI_Comm comm, fs::path path) : impl_(std::make_unique<Impl>(comm, std::move(path))) {}

Reader::~Reader() = default;

const fs::path& Reader::path() const { return impl_->path(); }

bool Reader::has(const std::string& object) const {
  return impl_->ask([&](const Stored& stored) { return exists(stored.file, object); }).get<bool>();
}

std::vector<std::string> Reader::names(const std::string& group) const {
  const auto found = impl_->ask([&](const Stored& stored) { return member_names(stored.file, group); });
  return found.get<std::vector<std::string>>();
}

Json Reader::attributes(const std::string& object) const {
  return impl_->ask([&](const Stored& stored) { return stored_attributes(stored, object); });
}

Json Reader::record(const std::string& group) const {
  return impl_->ask([&](const Stored& stored) { return stored_group(stored, group); });
}

DatasetInfo Reader::info(const std::string& name) const {
  const Json found = impl_->ask([&](const Stored& stored) { return info_of(stored, name); });
  return {found["extents"].get<Extents>(), found["type"].get<std::string>()};
}

template <FieldScalar T>
void Reader::read(const std::string& dataset, const Block& block, T* data, const Strides& strides) const {
  impl_->read(dataset, block, strides, data != nullptr, scalar_of<T>, reinterpret_cast<std::byte*>(data), {});
}

template <FieldScalar T>
void Reader::read(const std::string& dataset, const Block& block, const Store<T>& store) const {
  impl_->read(dataset, block, {}, true, scalar_of<T>, nullptr,
              [&](const Box& box, const std::byte* from) { store(box, reinterpret_cast<const T*>(from)); });
}

#define KONTOR_READ(T)                                                                                                 \
  template void Reader::read(const std::string&, const Block&, T*, const Strides&) const;                              \
  template void Reader::read(const std::string&, const Block&, const Store<T>&) const;
KONTOR_READ(double)
KONTOR_READ(float)
KONTOR_READ(std::int32_t)
KONTOR_READ(std::int64_t)
#undef KONTOR_READ

} // namespace kontor::output
