#include "compiler/target/target.h"
#include "compiler/target/train_job.h"

namespace kft::target {

std::vector<Object> build(const ir::Job &job, Kind kind, Compilation &compilation) {
  switch (kind) {
  case Kind::TrainJob: return trainJob(job, compilation);
  case Kind::Runtime: return job.runtime.installed ? std::vector<Object>() : build(job.runtime, compilation);
  }
  return {};
}

} // namespace kft::target
