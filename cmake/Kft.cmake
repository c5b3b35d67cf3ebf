# What every target of the project shares. Flags are set per target, never globally, so that generated code and third
# parties keep their own.
option(KFT_WERROR "Treat warnings as errors" OFF)
option(KFT_COVERAGE "Instrument for gcov" OFF)
option(KFT_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
set(KFT_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")

add_library(kft_options INTERFACE)
target_compile_features(kft_options INTERFACE cxx_std_20)
target_include_directories(kft_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
# GCC 12 sees overlapping copies in "text" + std::string where there are none (its bug 105651).
target_compile_options(kft_options INTERFACE -Wall -Wextra -Wmissing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${KFT_WERROR}>:-Werror> $<$<CONFIG:Debug>:-g1>)
# What must hold for every object file of the program, third-party sources included.
add_library(kft_instrumentation INTERFACE)
if(KFT_SANITIZE)
  target_compile_options(kft_instrumentation INTERFACE -fsanitize=${KFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(kft_instrumentation INTERFACE -fsanitize=${KFT_SANITIZE})
endif()
if(KFT_COVERAGE)
  target_compile_options(kft_instrumentation INTERFACE --coverage)
  target_link_options(kft_instrumentation INTERFACE --coverage)
endif()
if(KFT_FUZZ)
  target_compile_definitions(kft_instrumentation INTERFACE KFT_FUZZING)
  target_compile_options(kft_instrumentation INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(kft_instrumentation INTERFACE -fsanitize=address,undefined)
endif()
target_link_libraries(kft_options INTERFACE kft_instrumentation)

# kft_library(sema SOURCES a.cpp ... DEPENDS kft::ast ...): the static library kft_sema, alias kft::sema.
function(kft_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(kft_${name} STATIC ${ARG_SOURCES})
  add_library(kft::${name} ALIAS kft_${name})
  target_link_libraries(kft_${name} PUBLIC kft_options ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
endfunction()

# kft_unit_test(sema SOURCES eval_test.cpp ... DEPENDS kft::sema ...): one GoogleTest program per folder.
function(kft_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(kft_${name}_test ${ARG_SOURCES})
  target_link_libraries(kft_${name}_test PRIVATE kft_options ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  add_test(NAME unit.${name} COMMAND kft_${name}_test)
  set_tests_properties(unit.${name} PROPERTIES TIMEOUT 300)
endfunction()
