// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kontor::comm {

/// How the parts of a View that do not lie in one piece travel.
enum class Packing : std::uint8_t {
  automatic, ///< `none` where a View is contiguous in the wire's order, else the faster of the others
  kernel,    ///< one fused kernel copies all of them into a contiguous buffer, and back at the other end
  datatype,  ///< the backend takes them as they lie (MPI derived datatypes)
  none       ///< refused: only contiguous Views may travel
};

/// When the messages of an exchange are posted and completed.
enum class Pattern : std::uint8_t {
  blocking,     ///< one MPI_Sendrecv a slot, all of them in finish(): nothing travels before
  nonblocking,  ///< all receives, then all sends, then one wait for all of them
  persistent,   ///< requests made once (MPI_Send_init), then one MPI_Startall and one wait a step
  neighborhood, ///< one MPI_Ineighbor_alltoallw on a graph communicator of the plan's peers
  alltoall,     ///< one MPI_Ialltoallv, or MPI_Ialltoallw, of the ranks that exchange together
  two_hop,      ///< the same in two steps, along the rows and then along the columns of a grid of those ranks
  rma,          ///< MPI_Put into windows of the receivers, ordered by post, start, complete and wait
  automatic     ///< each exchange tries the others when it is committed and keeps the fastest
};

/// Which memory of a device the backend is handed; of no consequence for Views in host memory.
enum class Path : std::uint8_t {
  direct,   ///< the device's own, to an MPI that is GPU-aware or to a GPU library
  staged,   ///< host memory that the device can reach (pinned), into which data are packed and from which
            ///< unpacked
  automatic ///< the faster of those that are possible, by trial
};

/// How much is verified besides what MPI reports.
enum class CheckLevel : std::uint8_t {
  off,       ///< nothing that costs anything
  local,     ///< what one rank can see alone
  cross_rank ///< also that both ends, or all ranks, agree; and a wait that lasts too long is an error
};

/// A value of one of these enums, and what decks and messages call it.
template <class E>
struct NamedValue {
  const char* name; ///< "persistent"
  E value;          ///< Pattern::persistent
};

///@{
/// All values of an enum with their names, in the order of its values.
inline constexpr std::array<NamedValue<Packing>, 4> packing_names{{{"auto", Packing::automatic},
                                                                   {"kernel", Packing::kernel},
                                                                   {"datatype", Packing::datatype},
                                                                   {"none", Packing::none}}};
inline constexpr std::array<NamedValue<Pattern>, 8> pattern_names{{{"blocking", Pattern::blocking},
                                                                   {"nonblocking", Pattern::nonblocking},
                                                                   {"persistent", Pattern::persistent},
                                                                   {"neighborhood", Pattern::neighborhood},
                                                                   {"alltoall", Pattern::alltoall},
                                                                   {"two_hop", Pattern::two_hop},
                                                                   {"rma", Pattern::rma},
                                                                   {"auto", Pattern::automatic}}};
inline constexpr std::array<NamedValue<Path>, 3> path_names{
    {{"direct", Path::direct}, {"staged", Path::staged}, {"auto", Path::automatic}}};
inline constexpr std::array<NamedValue<CheckLevel>, 3> check_names{
    {{"off", CheckLevel::off}, {"local", CheckLevel::local}, {"cross_rank", CheckLevel::cross_rank}}};
///@}

/// The name that leaves the choice of backend open.
inline constexpr const char* automatic_backend = "auto";

/// What a Communicator is made with; equal on all ranks, but for the timeout.
struct Options {
  std::string backend = "raw";            ///< a name of backends(), or automatic_backend
  Pattern pattern = Pattern::nonblocking; ///< of the backends that are MPI's
  Packing packing = Packing::automatic;   ///< of Views that do not lie in one piece
  Path path = Path::automatic;            ///< of Views in device memory
  CheckLevel check = CheckLevel::local;   ///< how much is verified
  double trial = 0.2;                     ///< seconds that a commit() may spend on a choice left to `auto`, roughly
  double timeout = 20; ///< seconds that a wait may take at check level `cross_rank`, or after an error
};

///@{
/// "persistent", "datatype", "staged", "cross_rank"; "?" of what is no value of the enum.
const char* to_string(Pattern);
const char* to_string(Packing);
const char* to_string(Path);
const char* to_string(CheckLevel);
///@}
/// "view, persistent, packing datatype"; where it is not the usual one also ", path staged"
std::string to_string(const Options&);

/// Local. `usual`, but for what the words say: members with the names that decks have for their values, such as
/// "backend=view pattern=persistent timeout=5", between them spaces or commas. Throws UsageError for another member or
/// value, with those that there are.
Options options_of(std::string_view words, Options usual = {});
/// Local. options_of() the words of the environment variable KONTOR_COMM; `usual` where it is not set.
Options options_of_environment(Options usual = {});

} // namespace kontor::comm
