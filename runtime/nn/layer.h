// One step of a network: both directions, and what the model must know to lay out memory for it. A layer owns no large
// memory; parameters, gradients and activations are the model's, placed before the first pass.
#pragma once

#include "runtime/plan/run_plan.h"
#include "runtime/tensor/kernels.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kft::run {

// What a pass is about. Row 0 of the batch is sample `firstSample` of the run, counted over all ranks and epochs:
// random numbers follow the sample, so that they do not depend on which rank has it.
struct Pass {
  bool training = false;
  int64_t firstSample = 0;
  bool accumulate = false; // backward adds to the parameters' gradients instead of setting them
};

struct ParameterShape {
  std::string name; // "weight"
  std::vector<int64_t> shape;
  int64_t size() const;
};

// What a layer's backward pass reads of the output it gave; decides whether the next layer may overwrite that.
enum class Reads : uint8_t { Nothing, Sign, Values };

struct LayerPlace {
  int64_t index = 0; // among the model's layers
  uint64_t seed = 0;
  std::string init = "default";
  Activation followedBy = Activation::None; // the next activation, which the weights' start takes into account
};

class Layer {
public:
  virtual ~Layer() = default;

  // in (rows, inputs), out (rows, outputs).
  virtual void forward(const float *in, float *out, int64_t rows, const Pass &pass) = 0;
  // outGradient may be overwritten. inGradient is null where nobody needs it.
  virtual void backward(const float *in, const float *out, float *outGradient, float *inGradient, int64_t rows,
                        const Pass &pass) = 0;

  // Contiguous floats, in the order of `parameters()`.
  virtual void place(float *values, float *gradients) { (void)values, (void)gradients; }
  virtual void initialize() {}
  virtual std::vector<ParameterShape> parameters() const { return {}; }

  // True when in and out may be the same memory, in both directions; then backward must not look at `in`.
  virtual bool worksInPlace() const { return false; }
  virtual Reads readsOutput() const { return Reads::Nothing; }
  // Of a layer that works in place: whether what it writes has the input's sign, or zero where no gradient passes.
  virtual bool keepsSign() const { return false; }
  // The elementwise function that this layer is, if it is one; the layer before may take it over.
  virtual Activation activation() const { return Activation::None; }
  virtual bool takeOver(Activation next) { return (void)next, false; }

  int64_t inputs = 0, outputs = 0; // floats per sample
};

// Throws Error for a kind that is no row of layers.def, or whose parameters make no sense.
std::unique_ptr<Layer> makeLayer(const LayerPlan &plan, LayerPlace place);
int64_t elements(const std::vector<int64_t> &shape);
const Arg *findArg(const LayerPlan &plan, const std::string &name);
double numberArg(const LayerPlan &plan, const std::string &name, std::optional<double> otherwise = {});
bool flagArg(const LayerPlan &plan, const std::string &name, bool otherwise);

#define KFT_LAYER(kind, maker, shapes, parameters)                                                                     \
  std::unique_ptr<Layer> maker(const LayerPlan &plan, LayerPlace place);
#include "runtime/nn/layers.def"

} // namespace kft::run
