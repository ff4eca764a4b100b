// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target.hpp"

#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <hdf5.h>
#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace kontor::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_elements = 1 << 16; ///< of a dataset that is read: those of the samples have fewer

/// As a run writes it.
void write_ours(const fs::path& path) {
  output::File file(MPI_COMM_SELF, path);
  file.record("/run",
              {{"app", "heat"},
               {"ranks", 2},
               {"overlap", true},
               {"tolerance", 1e-9},
               {"hosts", {"a", "bc"}},
               {"repeats", {0.1, 0.2, 0.3}},
               {"per_rank", {{"seconds", {{{1.0, 2.0}, {3.0, 4.0}}}}}},
               {"timers",
                {{{"region", "pack"}, {"calls", 3}, {"max", 0.5}}, {{"region", "wait"}, {"calls", 4}, {"max", 0.25}}}},
               {"verification", {{"passed", true}, {"error", 1e-12}}}});
  std::vector<double> u(12);
  std::iota(u.begin(), u.end(), 0.5);
  file.dataset("/fields/u", {{3, 4}, {0, 0}, {3, 4}}, u.data());
  const std::vector<float> v(12, 2.5F);
  file.dataset("/fields/v", {{3, 4}, {0, 0}, {3, 4}}, v.data());
  const std::vector<std::int64_t> n(5, 7);
  file.dataset("/fields/n", {{5}, {0}, {5}}, n.data());
  file.attributes("/fields/u", {{"unit", "K"}, {"time", 0.25}});
  file.commit();
}

/// What other programs may write: chunks, filters, links, types that a record does not have. `latest`: in the newest of
/// the formats.
void write_others(const fs::path& path, bool latest) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t run = H5Gcreate2(file, "run", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t extent[] = {8, 6}, chunk[] = {4, 3};
  const hid_t space = H5Screate_simple(2, extent, nullptr), line = H5Screate_simple(1, extent, nullptr),
              one = H5Screate(H5S_SCALAR);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 2, chunk);
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 6);
  H5Pset_fletcher32(creation);
  const std::vector<double> values(48, 1.25);
  const hid_t packed = H5Dcreate2(file, "packed", H5T_IEEE_F64BE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dwrite(packed, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  const hid_t string = H5Tcopy(H5T_C_S1);
  H5Tset_size(string, H5T_VARIABLE);
  const char* text[] = {"a", "bc", "", "d", "e", "f", "g", "h"};
  const hid_t strings = H5Dcreate2(run, "strings", string, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(strings, string, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<const void*>(text));
  const hid_t attribute = H5Acreate2(run, "app", string, one, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, string, static_cast<const void*>(text));
  const hid_t row = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(row, "name", 0, string);
  H5Tinsert(row, "value", 8, H5T_NATIVE_INT32);
  const hid_t table = H5Dcreate2(run, "table", row, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t list = H5Tvlen_create(H5T_NATIVE_INT);
  const hid_t lists = H5Acreate2(packed, "lists", list, one, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t word = H5Tenum_create(H5T_NATIVE_INT8);
  const signed char no = 0;
  H5Tenum_insert(word, "no", &no);
  const hid_t words = H5Acreate2(run, "enumeration", word, one, H5P_DEFAULT, H5P_DEFAULT);
  H5Tcommit2(file, "type", row, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/run/loop", run, "loop", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/packed", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "/", run, "root", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("other.h5", "/packed", file, "external", H5P_DEFAULT, H5P_DEFAULT);
  for (const hid_t id : {attribute, lists, words}) H5Aclose(id);
  for (const hid_t id : {packed, strings, table}) H5Dclose(id);
  for (const hid_t id : {string, row, list, word}) H5Tclose(id);
  for (const hid_t id : {space, line, one}) H5Sclose(id);
  H5Gclose(run);
  H5Pclose(creation);
  H5Pclose(access);
  H5Fclose(file);
}

template <class T>
void read_whole(const output::Reader& reader, const std::string& name, const std::vector<std::uint64_t>& extents,
                std::uint64_t count) {
  std::vector<T> values(count);
  reader.read(name, {extents, std::vector<std::uint64_t>(extents.size(), 0), extents}, values.data());
}

/// Calls of a reader, of which each may fail by itself.
class Visit {
 public:
  explicit Visit(const output::Reader& reader) : reader_(reader) {}

  void all() {
    attempt([&] { static_cast<void>(reader_.record("/run")); });
    attempt([&] { static_cast<void>(reader_.record("/")); });
    group("", 0);
  }
  /// The first error; empty: none.
  const std::string& error() const { return error_; }

 private:
  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const output::Error& error) {
      if (error_.empty()) error_ = error.what();
    }
  }

  void group(const std::string& path, int depth) {
    attempt([&] { static_cast<void>(reader_.attributes(path.empty() ? "/" : path)); });
    if (depth > 3 || ++groups_ > 50) return;
    attempt([&] {
      for (const auto& name : reader_.names(path.empty() ? "/" : path)) member(path + "/" + name, depth);
    });
  }
  void member(const std::string& path, int depth) {
    if (!reader_.has(path)) return;
    try {
      dataset(path);
    } catch (const output::Error&) { // it is a group, or will not be taken for one either
      group(path, depth + 1);
    }
  }
  void dataset(const std::string& path) {
    const auto [extents, type] = reader_.info(path);
    std::uint64_t count = 1;
    for (const auto extent : extents) {
      if (extent > most_elements) return;
      count *= extent;
      if (count > most_elements) return;
    }
    if (type == "float64") read_whole<double>(reader_, path, extents, count);
    if (type == "float32") read_whole<float>(reader_, path, extents, count);
    if (type == "int64") read_whole<std::int64_t>(reader_, path, extents, count);
    if (type == "int32") read_whole<std::int32_t>(reader_, path, extents, count);
  }

  const output::Reader& reader_;
  std::string error_;
  int groups_ = 0;
};

} // namespace

Target results() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Material material{
      .samples = {},
      .words = {"run", "/run", "OHDR", "SNOD", "TREE", "HEAP", "GCOL", std::string(8, '\xff'), std::string(8, '\0')},
      .binary = true};
  const TemporaryFolder folder;
  const auto path = folder.path() / "sample.h5";
  write_ours(path);
  material.samples.push_back(text_of(path));
  for (const bool latest : {false, true}) {
    write_others(path, latest);
    material.samples.push_back(text_of(path));
  }
  return {"result", std::move(material), [](const auto&, const fs::path& file) {
            std::string inside;
            const auto refusal = refusal_of<output::Error>([&] {
              const output::Reader reader(MPI_COMM_SELF, file);
              Visit visit(reader);
              visit.all();
              inside = visit.error();
            });
            if (const auto open = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL); open != 0)
              throw std::runtime_error(std::to_string(open) + " objects of the file stay open");
            return refusal.empty() ? inside : refusal;
          }};
}

} // namespace kontor::fuzz
