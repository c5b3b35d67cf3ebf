// A stack of layers with all its memory: one flat buffer of parameters, one of gradients, activations for one piece of
// a batch. Nothing is allocated after construction.
#pragma once

#include "runtime/nn/layer.h"
#include "runtime/tensor/tensor.h"

namespace kft::run {

class Model {
public:
  // `rows`: the most that a pass brings. `extra`: floats behind the gradients that travel with them through the
  // reduction. Parameters hold their start values afterwards. Throws Error when the plan's shapes do not fit together.
  Model(const Plan &plan, int64_t rows, int64_t extra = 0);

  // Where the caller writes a batch: (rows, inputs).
  float *input() { return input_; }
  // Outputs (rows, outputs) of the rows in `input`.
  const float *forward(int64_t rows, const Pass &pass);
  // Where the loss writes its gradient: (rows, outputs). `backward` follows a `forward` of the same rows.
  float *outputGradient() { return gradients_[0].data(); }
  void backward(int64_t rows, const Pass &pass);

  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return outputs_; }
  int64_t parameterCount() const { return count_; }
  float *parameters() { return parameters_.data(); }
  const float *parameters() const { return parameters_.data(); }
  float *gradients() { return parameterGradients_.data(); } // parameterCount() + extra

  struct Named {
    std::string name; // "layers.0.weight": the layer's place among all layers of the plan
    std::vector<int64_t> shape;
    int64_t offset;
  };
  const std::vector<Named> &named() const { return named_; }

private:
  struct Stage {
    std::unique_ptr<Layer> layer;
    float *in, *out; // the same when the layer works in place
  };
  std::vector<Stage> stages_;
  size_t firstTrained_ = 0; // the first stage with parameters
  std::vector<Named> named_;
  std::vector<Buffer> activations_;
  Buffer gradients_[2]; // of activations, taking turns
  Buffer parameters_, parameterGradients_;
  float *input_ = nullptr;
  int64_t inputs_ = 0, outputs_ = 0, count_ = 0;
};

} // namespace kft::run
