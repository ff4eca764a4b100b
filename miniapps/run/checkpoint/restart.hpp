// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/checkpoint/checkpoint_files.hpp"
#include "run/record/result.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/output/reader.hpp>

#include <mpi.h>

#include <memory>
#include <string_view>

namespace kontor::miniapp {

class MiniApp;

/// The checkpoint that a run resumes from.
class Restart {
 public:
  /// Collective over comm. The file, or where it is not there the newest of those that it stands for
  /// (find_checkpoints()) that is whole: all of its bytes are read and compared with their checksums. Throws
  /// config::Error on all ranks if there is none, which tells what was found in each, or if it is of another format.
  Restart(MPI_Comm comm, const std::string& file);

  const std::string& path() const { return path_; }
  const CheckpointHeader& header() const { return header_; }
  const output::Reader& reader() const { return *reader_; }
  /// What was wrong with newer ones; empty: nothing.
  const std::string& note() const { return note_; }

  /// Local. Throws config::Error that lists every key of `now`, the app's own, whose value is another than the
  /// checkpoint's, but for those that `may_change`: keys, or sections by their name and a point.
  void require_same(std::string_view app, const config::Deck&, const std::vector<config::Setting>& now,
                    const std::vector<std::string>& may_change) const;

  /// Collective, before each step; compares once: what an app would write before its first step is what it has read,
  /// bit for bit.
  void compare(const comm::Communicator&, const MiniApp&);
  /// Local. Of that; passed if nothing was compared.
  const Verification& verdict() const { return verdict_; }

 private:
  std::string path_;
  std::string note_;
  CheckpointHeader header_;
  std::unique_ptr<output::Reader> reader_;
  bool compared_ = false;
  Verification verdict_;
};

} // namespace kontor::miniapp
