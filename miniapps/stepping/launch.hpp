// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/visitor.hpp>

#include <array>
#include <string>

/// What one launch makes on a device.
namespace kontor::stepping {

/// Each kernel by itself, many steps by a graph, or by a kernel that stays for many.
enum class Launch { automatic, per_kernel, graph, persistent };

/// The words of decks, and what they say.
inline constexpr std::array<config::Named<Launch>, 4> all_launch_names{{{"auto", Launch::automatic},
                                                                        {"per_kernel", Launch::per_kernel},
                                                                        {"graph", Launch::graph},
                                                                        {"persistent", Launch::persistent}}};
/// Those of apps without persistent kernels.
inline constexpr std::array<config::Named<Launch>, 3> launch_names{
    {all_launch_names[0], all_launch_names[1], all_launch_names[2]}};

inline std::string name_of(Launch launch) {
  return std::string(all_launch_names[static_cast<std::size_t>(launch)].name);
}

} // namespace kontor::stepping
