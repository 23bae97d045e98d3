// A tuner of KTT's for rows that are scaled, in the style of its examples.
#include <string>
#include <vector>

#include <Ktt.h>

#if defined(_MSC_VER)
const std::string kernelPrefix = "";
#else
const std::string kernelPrefix = "../";
#endif

#if KTT_CUDA_EXAMPLE
const auto computeApi = ktt::ComputeApi::CUDA;
#elif KTT_OPENCL_EXAMPLE
const auto computeApi = ktt::ComputeApi::OpenCL;
#endif
const bool useWideParameters = false;

int main(int argc, char** argv) {
  ktt::DeviceIndex deviceIndex = 0;
  std::string kernelFile = kernelPrefix + "../Examples/ScaleRows/ktt_scale_rows.cu";

  // Declare kernel parameters
  const uint32_t width = 512;
  uint32_t height;
  if constexpr (!useWideParameters) {
    height = 16 * 8;
  } else {
    height = 16 * 64;
  }
  const ktt::DimensionVector ndRangeDimensions(width, height);
  const ktt::DimensionVector workGroupDimensions(1, 1);
  const float factor = 1.5f;

  std::vector<float> source(width * height);
  std::vector<float> result(width * height, 0.0f);
  for (auto& each : source) each = 0.5f;

  ktt::Tuner tuner(0, deviceIndex, computeApi);
  tuner.SetGlobalSizeType(ktt::GlobalSizeType::OpenCL);
  if constexpr (computeApi == ktt::ComputeApi::OpenCL) {
    tuner.SetCompilerOptions("-cl-fast-relaxed-math");
  } else {
    tuner.SetCompilerOptions("-use_fast_math");
  }

  const auto definition = tuner.AddKernelDefinitionFromFile("scaleRows", kernelFile,
                                                            ndRangeDimensions, workGroupDimensions);
  const auto kernel = tuner.CreateSimpleKernel("ScaleRows", definition);

  const auto sourceId = tuner.AddArgumentVector(source, ktt::ArgumentAccessType::ReadOnly);
  const auto resultId = tuner.AddArgumentVector(result, ktt::ArgumentAccessType::WriteOnly);
  const auto factorId = tuner.AddArgumentScalar(factor);
  const auto widthId = tuner.AddArgumentScalar(width);
  tuner.SetArguments(definition, {sourceId, resultId, factorId, widthId});

  tuner.AddParameter(kernel, "BLOCK_X", std::vector<uint64_t>{32, 64, 128});
  tuner.AddParameter(kernel, "BLOCK_Y", std::vector<uint64_t>{1, 2, 4, 8});
  tuner.AddParameter(kernel, "ROWS_SIZE", std::vector<uint64_t>{1, 2, 4});

  tuner.AddThreadModifier(kernel, {definition}, ktt::ModifierType::Local, ktt::ModifierDimension::X,
                          "BLOCK_X", ktt::ModifierAction::Multiply);
  tuner.AddThreadModifier(kernel, {definition}, ktt::ModifierType::Local, ktt::ModifierDimension::Y,
                          "BLOCK_Y", ktt::ModifierAction::Multiply);
  tuner.AddThreadModifier(kernel, {definition}, ktt::ModifierType::Global,
                          ktt::ModifierDimension::Y, {"ROWS_SIZE"},
                          [](const uint64_t defaultSize, const std::vector<uint64_t>& parameters) {
                            return defaultSize / parameters[0];
                          });

  const uint64_t mostThreads = 256;
  auto blockConstraint = [mostThreads](const std::vector<uint64_t>& vector) {
    return vector[0] * vector.at(1) <= mostThreads;
  };
  tuner.AddConstraint(kernel, {"BLOCK_X", "BLOCK_Y"}, blockConstraint);
  tuner.AddConstraint(kernel, {"BLOCK_Y", "ROWS_SIZE"}, [](const std::vector<uint64_t>& v) {
    return v[0] * v[1] <= 16 && !(v[0] == 8 && v[1] == 1);
  });
  tuner.AddConstraint(kernel, {"ROWS_SIZE"}, [](const std::vector<uint64_t>& v) {
    if (v[0] > 2) {
      return false;
    }
    return true;
  });

  tuner.SetReferenceComputation(resultId, [&source, width, height](void* buffer) {
    float* out = static_cast<float*>(buffer);
    for (uint32_t i = 0; i < width * height; ++i) {
      out[i] = 1.5f * source[i];
    }
  });
  tuner.SetValidationMethod(ktt::ValidationMethod::SideBySideComparison, 0.001);

  const auto results = tuner.Tune(kernel);
  tuner.SaveResults(results, "ScaleRowsOutput", ktt::OutputFormat::JSON);
  return 0;
}
