// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "agree.hpp"
#include "values.hpp"

#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <cstring>

namespace kontor::output {

/// What is handed over to be written, compared with what a file has. Every member function is collective over
/// the communicator.
class File::Comparison {
 public:
  Comparison(MPI_Comm comm, const Reader& reader) : comm_(comm), reader_(reader) {}

  /// Of this rank's block, bit for bit.
  template <FieldScalar T>
  void dataset(const std::string& name, const Block& block, const BlockValues& values) {
    if (!reader_.has(name)) return differs(name);
    bool same = true;
    std::vector<std::byte> room;
    reader_.read<T>(name, block, Store<T>([&](const Box& box, const T* from) {
                      const auto bytes = elements(box.extent) * sizeof(T);
                      same = same && std::memcmp(values.box(box, room), from, bytes) == 0;
                    }));
    if (!everywhere(same)) differs(name);
  }

  /// Member by member; rank 0's `tree` counts.
  void record(const std::string& name, const nlohmann::ordered_json& tree) {
    if (!reader_.has(name)) return differs(name);
    const auto found = reader_.record(name);
    auto names = nlohmann::ordered_json::array();
    for (const auto& [member, value] : tree.items())
      if (found.value(member, nlohmann::ordered_json()) != value) names.push_back(name + "/" + member);
    const auto of_root = nlohmann::ordered_json::parse(broadcast(comm_, my_rank(comm_) == 0 ? names.dump() : ""));
    for (const auto& member : of_root) differs(member.get<std::string>());
  }

  /// The same on all ranks.
  const std::vector<std::string>& differences() const { return differences_; }

 private:
  /// Collective.
  bool everywhere(bool mine) const {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_CXX_BOOL, MPI_LAND, comm_), "MPI_Allreduce");
    return mine;
  }
  void differs(const std::string& name) { differences_.push_back(name); }

  MPI_Comm comm_;
  const Reader& reader_;
  std::vector<std::string> differences_;
};

} // namespace kontor::output
