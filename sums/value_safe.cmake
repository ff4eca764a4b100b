# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kontor_value_safe(<target>): compiles the C++ of a target with arithmetic as it is written, whatever the flags of
# the build: no reassociation, no multiply-add contraction.
function(kontor_value_safe target)
  set(compiler ${CMAKE_CXX_COMPILER_ID})
  if(compiler MATCHES "^(GNU|Clang|AppleClang|ARMClang|CrayClang|FujitsuClang|IBMClang|LCC)$")
    set(flags -fno-fast-math -ffp-contract=off)
  elseif(compiler STREQUAL "IntelLLVM")
    set(flags -fp-model=precise -ffp-contract=off)
  elseif(compiler STREQUAL "Intel")
    set(flags -fp-model=precise -no-fma)
  elseif(compiler MATCHES "^(NVHPC|PGI)$")
    set(flags -Kieee -Mnofma)
  elseif(compiler STREQUAL "Cray")
    set(flags -hfp0)
  elseif(compiler STREQUAL "XLClang")
    set(flags -qstrict -ffp-contract=off)
  elseif(compiler STREQUAL "XL")
    set(flags -qstrict -qfloat=nomaf)
  elseif(compiler STREQUAL "Fujitsu")
    set(flags -Knoeval,nofp_relaxed,nofp_contract)
  elseif(NOT compiler STREQUAL "MSVC")
    message(WARNING "kontor::sums: no flags for value-safe arithmetic are known of compiler ${compiler}; test sums shows "
      "whether sums are exact"
    )
  endif()
  # Drivers of cl.exe's kind read its options.
  if(MSVC)
    set(flags /fp:precise)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${flags}>)
endfunction()
