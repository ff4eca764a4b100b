// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes files; check_record.py reads them with h5py.
#include "../src/descriptor.hpp"
#include "../src/values.hpp"
#include "support.hpp"

#include <kontor/output/xdmf.hpp>

#include <fcntl.h>

namespace kontor::output {
namespace {

/// Fields cut along each dimension: the same bytes whatever ranks write them.
TEST(Record, HasEqualBytesForEqualContents) {
  const auto path = folder("record");
  const auto write_all = [&](const std::filesystem::path& h5, MPI_Comm comm) {
    File file(comm, h5);
    const bool alone = comm == MPI_COMM_SELF;
    file.record("/run", {{"title", "plaque d'été"}, {"ratio", 0.1}, {"infinite", 1 / 0.0}});
    const auto write = [&]<class T>(const std::string& name, const std::vector<std::uint64_t>& extents, int cut, T) {
      const Block block =
          alone ? Block{extents, std::vector<std::uint64_t>(extents.size()), extents} : uneven_block(extents, cut);
      const auto values = numbered<T>(block);
      file.dataset(name, block, values.data());
    };
    write("/fields/line", {17}, 0, double{});
    write("/fields/rows", {13, 7}, 0, double{});
    write("/fields/columns", {13, 7}, 1, float{});
    write("/fields/slabs", {6, 5, 11}, 0, double{});
    write("/fields/bars", {6, 5, 11}, 1, float{});
    write("/fields/sticks", {6, 5, 11}, 2, std::int32_t{});
    write("/checkpoint/deep/index", {6, 5, 11}, 2, std::int64_t{});
    write("/fields/large", {1300, 4099}, 1, double{}); // more than one slab
    file.commit();
  };
  write_all(path / "all.h5", MPI_COMM_WORLD);
  EXPECT_EQ(left_beside(path / "all.h5"), std::vector<std::filesystem::path>{});
  if (world_rank() == 0) {
    write_all(path / "one.h5", MPI_COMM_SELF);
    EXPECT_TRUE(read_text(path / "all.h5") == read_text(path / "one.h5")) << "files of all ranks and of one differ";
  }
}

/// Fields of cells, of points, or of both, on a mesh of so many dimensions.
void write_image(const std::filesystem::path& h5, int dimensions, bool of_cells, bool of_points) {
  const Image image{.dimensions = dimensions,
                    .cells = {6, dimensions > 1 ? 4u : 1u, dimensions > 2 ? 3u : 1u},
                    .origin = {1, 2, 3},
                    .spacing = {0.5, 0.25, 0.125}};
  File file(MPI_COMM_WORLD, h5, {xdmf_path(h5)});
  std::vector<MeshField> fields;
  const auto write = [&]<class T>(const MeshField& field, T factor) {
    const Block block = uneven_block(extents(image, field.centering), 0);
    auto values = numbered<T>(block);
    for (T& value : values) value *= factor;
    file.dataset(field.dataset, block, values.data());
    fields.push_back(field);
  };
  if (of_cells) {
    write({"u", "/fields/u"}, 1.0);
    write({"v", "/fields/v"}, -2.0);
  }
  if (of_points) {
    write({"p", "/fields/p", Scalar::float32, Centering::points}, 3.0F);
    write({"q", "/fields/q", Scalar::int64, Centering::points}, std::int64_t{-1});
  }
  std::vector<Snapshot> snapshots{{.time = 0, .fields = fields}};
  if (of_cells && !of_points) // at two times
    snapshots = {{0, {{"a<b & \"c\"", "/fields/u"}}}, {0.5, {{"a<b & \"c\"", "/fields/v"}}}};
  file.describe(image, snapshots);
  file.sidecar(xdmf_path(h5), xdmf(h5, image, snapshots));
  const std::vector<std::filesystem::path> written{h5, xdmf_path(h5)}, none;
  EXPECT_EQ(file.commit(), world_rank() == 0 ? written : none);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(left_beside(xdmf_path(h5)), none);
}

TEST(Record, VisualisationFilesAreWritten) {
  const auto path = folder("record");
  for (const int dimensions : {1, 2, 3}) {
    const auto name = [&](const char* what) { return path / (what + std::to_string(dimensions) + "d.h5"); };
    write_image(name("cells"), dimensions, true, false);
    write_image(name("points"), dimensions, false, true);
    if (dimensions == 3) write_image(name("both"), dimensions, true, true);
  }
}

TEST(Record, FieldsThatAreNotOfTheImageAreRefused) {
  const auto path = folder("record") / "never.h5";
  const Image image{.dimensions = 2, .cells = {6, 4, 1}};
  const auto text_of = [&](const Image& image, Centering centering) {
    return error_of([&] {
      const Block block = uneven_block({4, 6}, 1);
      File file(MPI_COMM_WORLD, path);
      file.dataset("/u", block, numbered<double>(block).data());
      file.describe(image, {{.fields = {{"u", "/u", Scalar::float64, centering}}}});
    });
  };
  EXPECT_EQ(text_of(image, Centering::cells), "");
  expect_facts(text_of(image, Centering::points), {"/u is (4, 6); values of points of this mesh are (5, 7)"});
  expect_facts(text_of({.dimensions = 3, .cells = {6, 4, 1}}, Centering::cells), {"of this mesh are (1, 4, 6)"});
  expect_facts(text_of({.dimensions = 2, .cells = {6, 4, 2}}, Centering::cells), {"2 dimensions with 6 x 4 x 2"});
  EXPECT_THROW(xdmf(path, image, {}), Error);
  const MeshField of_cells{"u", "/u"}, of_points{"p", "/p", Scalar::float64, Centering::points};
  expect_facts(error_of([&] { xdmf(path, image, {{.fields = {of_cells, of_points}}}); }), {"u", "p", "2 dimensions"});
}

/// A block's values anywhere in memory: in a padded array, in Fortran order, or behind a function that copies them.
TEST(Record, ValuesMayLieAnywhere) {
  const auto path = folder("record");
  for (const int cut : {0, 2}) {
    const Block block = uneven_block({40, 50, 90}, cut); // with bytes for each of four ranks to write
    const auto values = numbered<double>(block);
    const auto& n = block.extent;
    const auto fetch = [&](const Box& box, double* to) {
      for (std::uint64_t k = 0; k < box.extent[0]; ++k)
        for (std::uint64_t j = 0; j < box.extent[1]; ++j)
          for (std::uint64_t i = 0; i < box.extent[2]; ++i)
            *to++ = values[((box.offset[0] + k) * n[1] + box.offset[1] + j) * n[2] + box.offset[2] + i];
    };
    const auto write = [&](const std::string& name, auto&& how) {
      File file(MPI_COMM_WORLD, path / name);
      file.dataset<double>("/u", block, how);
      file.commit();
    };
    write("contiguous.h5", values.data());
    write("fetched.h5", fetch);
    if (world_rank() == 0) {
      EXPECT_TRUE(read_text(path / "fetched.h5") == read_text(path / "contiguous.h5")) << "cut along " << cut;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Record, ValuesThatCannotBeCopiedAreAnErrorOfAll) {
  const auto path = folder("record") / "never.h5";
  for (const int cut : {0, 1}) {
    const Block block = uneven_block({20, 9}, cut);
    const auto text = error_of([&] {
      File(MPI_COMM_WORLD, path).dataset<double>("/u", block, [](const Box& box, double* to) {
        if (world_rank() == world_size() - 1) throw std::runtime_error("device lost");
        std::fill_n(to, box.extent[0] * box.extent[1], 0);
      });
    });
    expect_facts(text, {"never.h5: the values of /u cannot be written: device lost"});
  }
}

TEST(Record, AnAxisMayHaveMoreThanTwoToThe31Elements) {
  const auto path = folder("record") / "sparse";
  write_text(path, "");
  // Rank r has three rows of five, which lie far apart.
  const std::uint64_t far = std::uint64_t{1} << 31, row = far + 1000, address = 512;
  const auto rank = static_cast<std::uint64_t>(world_rank());
  const Block block{{3, row}, {0, far + 10 * rank}, {3, 5}};
  std::vector<std::int32_t> values(15);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(100 * rank + i);
  EXPECT_EQ(error_of([&] {
              const BlockValues of_block{H5T_NATIVE_INT32, 4, [&](const Box& box, void* to) {
                                           std::copy_n(values.data() + elements_before(block.extent, box), 15,
                                                       static_cast<std::int32_t*>(to));
                                         }};
              write_values(Descriptor(::open(path.c_str(), O_WRONLY)), address, "/u", block, of_block);
            }),
            "");
  std::ifstream file(path);
  std::vector<std::int32_t> found(5);
  for (std::uint64_t y = 0; y < 3; ++y) {
    file.seekg(static_cast<std::streamoff>(address + 4 * (y * row + block.offset[1])));
    file.read(reinterpret_cast<char*>(found.data()), 20);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), values.begin() + 5 * static_cast<int>(y))) << "row " << y;
  }
  remove_file(path);
}

TEST(Record, BlocksThatDoNotFillTheArrayAreRefused) {
  const auto path = folder("record") / "never.h5";
  const std::vector<double> values(100);
  const auto text_of = [&](const Block& block) {
    return error_of([&] { File(MPI_COMM_WORLD, path).dataset("/u", block, values.data()); });
  };
  expect_facts(text_of({{100}, {0}, {world_rank() == 0 ? 1u : 0u}}), {"1 elements together; the array (100) has 100"});
  expect_facts(text_of({{5, 5}, {0, 3}, {5, 3}}), {"offset (0, 3) and extent (5, 3) in (5, 5)"});
  expect_facts(text_of({{5, 5}, {0}, {5, 3}}), {"2 global extents, 1 offsets and 2 extents"});
}

} // namespace
} // namespace kontor::output
