# llama-bench and llama-batched-bench from llama.cpp's own sources, linked to the engine's libraries instead of new ones.
# LLAMA_SOURCE is the kept part of llama.cpp's tree, ENGINE the folder with libllama and libggml.
cmake_minimum_required(VERSION 3.21)
project(vramble_llama_bench C CXX)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_BUILD_RPATH "${ENGINE}")
set(BUILD_SHARED_LIBS OFF)
set(LLAMA_BUILD_COMMON ON)
set(LLAMA_SUBPROCESS ON)
set(LLAMA_OPENSSL OFF)
set(LLAMA_TOOLS_INSTALL OFF)
set(LLAMA_BUILD_NUMBER 0)
set(LLAMA_BUILD_COMMIT "unknown")
set(BUILD_COMPILER "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
set(BUILD_TARGET "${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}")

include("${LLAMA_SOURCE}/cmake/common.cmake")
include("${LLAMA_SOURCE}/cmake/license.cmake")
find_package(Threads REQUIRED)

foreach(name ggml-base ggml llama)
    add_library(${name} SHARED IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES
        IMPORTED_LOCATION "${ENGINE}/lib${name}.so"
        INTERFACE_INCLUDE_DIRECTORIES "${LLAMA_SOURCE}/include;${LLAMA_SOURCE}/ggml/include")
endforeach()
set_property(TARGET ggml APPEND PROPERTY INTERFACE_LINK_LIBRARIES ggml-base)
set_property(TARGET llama APPEND PROPERTY INTERFACE_LINK_LIBRARIES ggml)

add_subdirectory("${LLAMA_SOURCE}/vendor" vendor)
add_subdirectory("${LLAMA_SOURCE}/common" common)
add_subdirectory("${LLAMA_SOURCE}/tools/llama-bench" llama-bench)
# A cache made before it was kept has no batched-bench.
if(EXISTS "${LLAMA_SOURCE}/tools/batched-bench")
    add_subdirectory("${LLAMA_SOURCE}/tools/batched-bench" batched-bench)
endif()
