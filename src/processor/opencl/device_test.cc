// Which OpenCL devices can be used, by what their drivers say of them.
#include "processor/opencl/device.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace weft::processor::opencl {
namespace {

// An APU with all that is needed.
Facts Good() {
  Facts facts;
  facts.is_available = facts.has_compiler = facts.is_little_endian = true;
  facts.address_bits = 64;
  facts.group_items_max = 256;
  facts.shared_memory =
      CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
  facts.extensions = "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics";
  facts.language = "OpenCL C 1.2";
  facts.language_majors = {1, 3};
  facts.features = {"__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_order_seq_cst",
                    "__opencl_c_atomic_scope_device", "__opencl_c_atomic_scope_all_devices"};
  return facts;
}

TEST(OpenClDevice, SaysWhatIsLacking) {
  EXPECT_EQ(Lack(Good()), "");
  const std::pair<const char*, std::function<void(Facts*)>> cases[] = {
      {"not available", [](Facts* facts) { facts->is_available = false; }},
      {"no compiler", [](Facts* facts) { facts->has_compiler = false; }},
      {"big-endian", [](Facts* facts) { facts->is_little_endian = false; }},
      {"64 bits", [](Facts* facts) { facts->address_bits = 32; }},
      {"no shared virtual memory", [](Facts* facts) { facts->shared_memory = 0; }},
      {"only coarse-grained",
       [](Facts* facts) { facts->shared_memory = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER; }},
      {"no atomics in shared",
       [](Facts* facts) { facts->shared_memory = CL_DEVICE_SVM_FINE_GRAIN_BUFFER; }},
      {"no 64-bit atomics",
       [](Facts* facts) { facts->extensions = "cl_khr_int64_base_atomics cl_khr_fp64"; }},
      {"no 64-bit atomics",
       [](Facts* facts) {
         facts->extensions = "cl_khr_int64_base_atomics_2 cl_khr_int64_extended_atomics";
       }},
      {"sequentially consistent", [](Facts* facts) { facts->language_majors = {1}; }},
      {"fewer than 64", [](Facts* facts) { facts->group_items_max = 32; }},
  };
  for (const auto& [lack, spoil] : cases) {
    Facts facts = Good();
    spoil(&facts);
    EXPECT_NE(Lack(facts).find(lack), std::string::npos) << lack << ": " << Lack(facts);
  }
}

TEST(OpenClDevice, ChoosesALanguageWithTheAtomics) {
  Facts facts = Good();
  EXPECT_EQ(BuildOptions(facts), "-cl-std=CL3.0");
  // Atomics over the device alone will do for a processor that is the host's own.
  facts.features.erase("__opencl_c_atomic_scope_all_devices");
  EXPECT_EQ(BuildOptions(facts), "");
  facts.is_cpu = true;
  EXPECT_EQ(BuildOptions(facts), "-cl-std=CL3.0 -DWEFT_DEVICE_SCOPE");
  facts.language_majors.insert(2);
  EXPECT_EQ(BuildOptions(facts), "-cl-std=CL2.0");
  // A driver of 2.x knows no list of languages.
  facts = Good();
  facts.language_majors.clear();
  facts.features.clear();
  EXPECT_EQ(BuildOptions(facts), "");
  facts.language = "OpenCL C 2.0 of some driver";
  EXPECT_EQ(BuildOptions(facts), "-cl-std=CL2.0");
}

}  // namespace
}  // namespace weft::processor::opencl
