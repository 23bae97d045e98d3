// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/lock.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "db/lookup_source.hpp"
#include "tuner/answer/known_times.hpp"
#include "tuner/blas/call_shape.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/cli/workload.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/reduction_class.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"
#include "tuner/worker/compiler_processes.hpp"

namespace autotune::cli {
namespace {

/// What libautotune_blas asks for when it serves the calls, and what it launches.
void ask_for_call(const blas::CallShape& shape, const Target& gemm, const std::string& policy,
                  std::vector<AskedSizes>& asked) {
  if (blas::contract_of(shape) != blas::Outcome::served) return;
  const auto ask = [&](const blas::TargetProblem& problem) {
    const NamedValues settings = all_settings(gemm, parse_named_values(problem.settings));
    asked.push_back({&gemm, settings, policy, problem.sizes, true});
  };
  for (const blas::TargetProblem& wanted : blas::problems_of(shape)) {
    if (wanted.target != gemm.name) continue;
    const blas::TargetProblem launched = blas::launched_problem_of(shape, wanted);
    ask(wanted);
    if (launched != wanted) ask(launched);
  }
}

/// Of the user's database, else of what is shipped.
std::vector<db::TunedEntry> stored_problems(const Arguments& arguments, const std::string& policy) {
  const auto entries_in = [&](const db::TunedStore& store) {
    return store.tuned({"", target_name(arguments), "", policy});
  };
  std::vector<db::TunedEntry> entries;
  if (arguments.has("db") || has_own_database(arguments)) {
    entries = entries_in(open_store(arguments, db::Mode::read_only));
  }
  const auto shipped = entries.empty() ? shipped_store(arguments) : std::nullopt;
  return shipped ? entries_in(*shipped) : entries;
}

std::vector<AskedSizes> asked_by(const Arguments& arguments, AnswerJudge& judge,
                                 const DeviceInfo& device) {
  std::vector<AskedSizes> asked;
  const std::string policy = asked_policy(arguments, device.kind);
  const auto target_called = [&](const std::string& name) -> const Target* {
    const Target* const target = judge.target_called(name);
    if (!target) find_target(name);  // says why
    return target;
  };
  if (arguments.has("workload")) {
    if (arguments.has("sizes")) throw UsageError("--workload has the sizes: leave out --sizes");
    const Target& gemm = *target_called("gemm");
    for (const RecordedCall& call : recorded_calls(arguments.text("workload"))) {
      ask_for_call(call.shape, gemm, policy, asked);
    }
    if (!asked.empty()) return asked;
    throw Error(
        format("{}: has no call that kernels of gemm could serve: autotune run --report -- "
               "COMMAND says why each call is passed on",
               arguments.text("workload")));
  }
  if (arguments.has("sizes")) {
    const Target& target = *target_called(target_name(arguments));
    const NamedValues settings = all_settings(target, settings_of(arguments));
    for (const NamedValues& sizes :
         sizes_in(arguments.text("sizes"), target, "--sizes", FreeSizes::taken)) {
      asked.push_back({&target, settings, policy, numbers_in_order(target, sizes)});
    }
    return asked;
  }
  for (const db::TunedEntry& entry : stored_problems(arguments, policy)) {
    const Target* const target = judge.target_called(entry.kernel.target);
    const db::DeviceRow here = device_row(device);
    const bool is_here =
        db::is_same_device(entry.device, here) || db::is_same_architecture(entry.device, here);
    if (!target || !is_here || !has_settings(entry, settings_of(arguments))) continue;
    const EntryProblem problem = problem_of(entry);
    asked.push_back({target, all_settings(*target, problem.settings), policy,
                     all_sizes(*target, size_values(problem.sizes))});
  }
  if (!asked.empty()) return asked;
  throw Error(
      format("{}: nothing is tuned there for {} as asked: tune it first, or name sizes with "
             "--target and --sizes",
             database_path(arguments).string(), device.name));
}

LockedAnswer locked_answer(const LookupAnswer& given, std::vector<std::int64_t> sizes) {
  LockedAnswer answer;
  answer.last = sizes.front();
  answer.sizes = std::move(sizes);
  answer.library = given.baseline;
  if (answer.library.empty()) answer.configuration = given.configuration;
  answer.provenance = given.provenance;
  answer.origin = given.origin;
  answer.median_ns = given.median_ns;
  answer.default_ns = given.default_ns;
  answer.expected_ns = given.expected_ns;
  answer.library_ns = given.baseline_ns;
  answer.distance = given.distance;
  answer.early_start = given.early_start;
  answer.library_is_expected = given.library_is_expected;
  return answer;
}

/// The library that --bits names; nullopt: none. Throws UsageError for another word.
std::optional<std::string> library_of_bits(const Arguments& arguments) {
  constexpr std::string_view kLike = "like=";
  const auto word = arguments.find("bits");
  if (!word || *word == "class") return std::nullopt;
  if (word->starts_with(kLike)) return word->substr(kLike.size());
  throw UsageError(format("--bits of lock is class or like=cublas, not \"{}\"", *word));
}

/// Asks for answers, and compiles their kernels, each once.
class LockMaker {
 public:
  LockMaker(const Arguments& arguments, AnswerJudge& judge, const DeviceInfo& device)
      : arguments_(arguments),
        device_(device),
        judge_(judge),
        answers_(arguments, judge),
        compiler_(compiler_for(device, compile_limit_of(arguments))),
        pool_(*compiler_, compile_threads_of(arguments)),
        requests_(pool_) {
    lock_.tool_version = AUTOTUNE_VERSION;
    lock_.created_at = db::now_text();
    lock_.device = device_row(device);
    lock_.environment = device.environment;
  }

  void add(const AskedSizes& asked) {
    const Target& target = *asked.target;
    const std::string settings = to_text(asked.settings);
    const std::optional<ProgramAnswer> given = answer_for(asked);
    if (!given) return;
    const Problem& problem = given->problem;
    NamedValues named = problem.values;
    named.insert(named.end(), problem.free.begin(), problem.free.end());
    std::vector<std::int64_t> sizes = numbers_in_order(target, named);
    if (!known_.emplace(target.name, settings, asked.policy, sizes).second) return;
    LockedAnswer answer = locked_answer(given->answer, std::move(sizes));
    if (!answer.configuration.empty()) {
      const TargetProgram program(target, problem, device_);
      const auto levels = levels_in(target, answer.configuration);
      if (!levels || !program.is_valid(*levels)) return;
      pending_.push_back({&target, problem, requests_.compile(program.source_unit(*levels))});
      answer.kernel = pending_.size() - 1;
    }
    target_in(target, settings, asked.policy).answers.push_back(std::move(answer));
  }

  Lock finish() {
    warn_of(answers_.warnings());
    const std::vector<std::size_t> kernels = compiled();
    for (LockedTarget& target : lock_.targets) {
      for (LockedAnswer& answer : target.answers) {
        if (!answer.configuration.empty()) answer.kernel = kernels[answer.kernel];
      }
    }
    if (const auto library = library_of_bits(arguments_)) take_bits_of(*library);
    for (LockedTarget& target : lock_.targets) merge_ranges(target.answers);
    std::ranges::sort(lock_.targets, {}, [](const LockedTarget& one) {
      return std::tuple(one.target, one.settings, one.policy);
    });
    return std::move(lock_);
  }

 private:
  struct Pending {
    const Target* target;
    Problem problem;
    CompileRequests::Result kernel;
  };

  static std::unique_ptr<Device> compiler_for(const DeviceInfo& device, double seconds) {
    return device.kind == DeviceKind::host ? open_device("host", seconds)
                                           : open_model(device, seconds);
  }

  /// nullopt if no configuration is valid for a call, or if libautotune_blas launches no
  /// kernel by the pin of the plain product.
  std::optional<ProgramAnswer> answer_for(const AskedSizes& asked) {
    const std::vector<std::string> names = size_names(*asked.target);
    NamedValues sizes;
    for (std::size_t i = 0; i < asked.sizes.size(); ++i) {
      if (asked.sizes[i] != kDefaultSize) sizes.push_back({names[i], asked.sizes[i]});
    }
    ProgramAnswer given;
    try {
      given = answers_.find(*asked.target, asked.settings, device_, asked.policy, sizes);
    } catch (const NoConfiguration&) {
      if (!asked.is_call) throw;
      return std::nullopt;
    }
    LookupAnswer& answer = given.answer;
    const bool is_of_plain = answer.is_pinned() && answer.validity == db::Validity::alike;
    if (!asked.is_call || !is_of_plain) return given;
    const bool is_launched =
        answer.origin != db::Origin::default_configuration && answer.baseline.empty();
    if (!is_launched) return std::nullopt;
    if (answer.origin == db::Origin::exact) answer.origin = db::Origin::transferred;
    answer.expected_ns = 0;
    return given;
  }

  LockedTarget& target_in(const Target& target, const std::string& settings,
                          const std::string& policy) {
    const auto found = std::ranges::find_if(lock_.targets, [&](const LockedTarget& one) {
      return one.target == target.name && one.settings == settings && one.policy == policy;
    });
    if (found != lock_.targets.end()) return *found;
    return lock_.targets.emplace_back(LockedTarget{target.name,
                                                   target.fingerprint,
                                                   size_names(target),
                                                   target.sizes.size(),
                                                   settings,
                                                   policy,
                                                   {}});
  }

  /// Lets the library answer where the kernel has other bits than its own choice.
  void take_bits_of(const std::string& library) {
    Plugins plugins(arguments_);
    const auto device = open_device_of(lock_, compile_limit_of(arguments_));
    for (LockedTarget& target : lock_.targets) {
      const Target& known = *judge_.target_called(target.target);
      const BaselineSource source = library_called(library, known, device->info().kind, plugins);
      for (LockedAnswer& answer : target.answers) {
        const Problem problem = problem_of(target, answer);
        if (!has_reduction_classes(known, problem)) continue;
        std::vector<BuiltConfiguration> builds;
        if (!answer.configuration.empty()) {
          builds.push_back(
              {answer.configuration, compiled_kernel(lock_.kernels[answer.kernel]), problem});
        }
        const BitsOfLibrary bits = bits_of_library(*device, known, problem, builds, source);
        if (bits.candidate.empty() || (!builds.empty() && bits.alike.front())) continue;
        answer.configuration.clear();
        answer.kernel = 0;
        answer.library = library + ' ' + bits.candidate;
      }
    }
    lock_ = with_used_kernels(std::move(lock_));
  }

  /// The number in the lock of each pending kernel.
  std::vector<std::size_t> compiled() {
    std::map<std::string, std::size_t> numbers;  // by content address
    std::vector<std::size_t> kernels;
    for (const Pending& each : pending_) {
      const auto kernel = each.kernel.get();
      if (kernel->outcome != Outcome::ok) {
        throw Error(format("{} {} does not compile: {}", each.target->name,
                           problem_text(*each.target, each.problem), first_error(kernel->log)));
      }
      const auto [found, is_new] = numbers.emplace(kernel->key, lock_.kernels.size());
      if (is_new) lock_.kernels.push_back({kernel->key, kernel->binary});
      kernels.push_back(found->second);
    }
    return kernels;
  }

  const Arguments& arguments_;
  const DeviceInfo device_;
  AnswerJudge& judge_;
  ProgramAnswers answers_;
  const std::unique_ptr<Device> compiler_;
  CompilePool pool_;
  CompileRequests requests_;
  Lock lock_;
  std::vector<Pending> pending_;
  std::set<std::tuple<std::string, std::string, std::string, std::vector<std::int64_t>>> known_;
};

LockFallback fallback_of(const Arguments& arguments) {
  const bool is_vendor = arguments.text("fallback") == name_of(LockFallback::vendor);
  return is_vendor ? LockFallback::vendor : LockFallback::error;
}

/// Of sizes that differ in the first one only: how many keep the bits of a row.
std::string bits_summary(const Lock& lock) {
  std::map<std::pair<const LockedTarget*, std::vector<std::int64_t>>, std::set<std::string>> groups;
  for (const LockedTarget& target : lock.targets) {
    for (const LockedAnswer& each : target.answers) {
      groups[{&target, {each.sizes.begin() + 1, each.sizes.end()}}].insert(each.bits);
    }
  }
  const auto stable = std::ranges::count_if(groups, [](const auto& group) {
    const std::set<std::string>& classes = group.second;
    return classes.size() == 1 && is_class(*classes.begin());
  });
  return format("bits: {} of {} have one class for all values of the first size\n", stable,
                count_text(groups.size(), "group"));
}

void print(const Lock& lock, const std::string& file) {
  std::size_t answers = 0, libraries = 0, expected = 0, bytes = 0;
  for (const LockedTarget& target : lock.targets) {
    answers += target.answers.size();
    for (const LockedAnswer& each : target.answers) {
      libraries += each.library.empty() ? 0 : 1;
      expected += each.origin == db::Origin::exact && !each.library_is_expected ? 0 : 1;
    }
  }
  for (const LockedKernel& kernel : lock.kernels) bytes += kernel.binary->size();
  std::cout << format(
      "{}: {} on {}, {} by a library, {} expected and not measured; {} of {}; fallback: {}\n", file,
      count_text(answers, "answer"), lock.device.name, libraries, expected,
      count_text(lock.kernels.size(), "kernel"), bytes_text(static_cast<std::int64_t>(bytes)),
      name_of(lock.fallback));
}

/// The user's, if there is one. Throws StoreError if it cannot be read, or if --db names none.
std::optional<db::TunedStore> own_store(const Arguments& arguments) {
  if (!arguments.has("db") && !has_own_database(arguments)) return std::nullopt;
  return db::Layer{database_path(arguments)}.open();
}

/// With the classes that the database has.
void classify_with_store(Lock& lock, AnswerJudge& judge, const Arguments& arguments) {
  std::unique_ptr<Device> device;
  std::optional<db::TunedStore> store = own_store(arguments);
  const auto opened = [&]() -> Device& {
    if (!device) device = open_device_of(lock, compile_limit_of(arguments));
    return *device;
  };
  classify(lock, judge, opened, store ? &*store : nullptr);
}

int make_lock(const Arguments& arguments) {
  const std::string output = arguments.text("output");
  const LockFallback fallback = fallback_of(arguments);
  library_of_bits(arguments);  // shows wrong usage
  own_store(arguments);        // a lock without its answers would be one of predictions
  const DeviceInfo device = device_named(arguments.text("device"));
  AnswerJudge judge(arguments);
  Lock lock = locked(arguments, judge, device, asked_by(arguments, judge, device));
  lock.fallback = fallback;
  lock.path = output;
  if (arguments.has("bits")) classify_with_store(lock, judge, arguments);
  lock.command = command_text(arguments);
  write_output(output, [&](std::ostream& stream) { stream << lock_text(lock); });
  print(lock, output);
  if (arguments.has("bits")) std::cout << bits_summary(lock);
  return kDone;
}

int run_lock(const Arguments& arguments) {
  const std::vector<std::string>& files = arguments.positional();
  if (arguments.has("diff")) {
    if (files.size() != 2) throw UsageError("--diff needs two locks: autotune lock --diff A B");
    const std::string text = difference(read_lock(files[0]), read_lock(files[1]));
    std::cout << (text.empty() ? "no difference\n" : text);
    return text.empty() ? kDone : kFailed;
  }
  if (arguments.has("verify") || arguments.has("repair")) return verify_lock(arguments);
  if (!files.empty()) {
    throw UsageError(
        format("\"{}\": files are for --verify, --repair and --diff; name the new lock "
               "with --output",
               files.front()));
  }
  return make_lock(arguments);
}

}  // namespace

Lock locked(const Arguments& arguments, AnswerJudge& judge, const DeviceInfo& device,
            const std::vector<AskedSizes>& asked) {
  LockMaker maker(arguments, judge, device);
  for (const AskedSizes& one : asked) maker.add(one);
  return maker.finish();
}

const Verb kLock{
    .name = "lock",
    .synopsis =
        "[--workload FILE|--target T [--sizes S]] --output FILE\n"
        "autotune lock --verify|--repair FILE\nautotune lock --diff FILE FILE",
    .summary = "Write decisions and compiled kernels into one file that programs open",
    .details =
        R"(Asks for each problem what a program gets, compiles the kernels, and writes both into one
file. Programs open it in place of databases (`AUTOTUNE_DB`, or `user_database` of
`autotune_options`). They then search, race, earn and compile nothing, and every process has the same
answers. [lock.md](lock.md) describes the file.

Without `--workload` and `--sizes`, it holds what is tuned. `M=1..64:1` makes one range of sizes that
follow each other and have one answer. A workload holds what `libautotune_blas` launches for its
calls. For a GPU that is not here, name it: `--device h200`.

`--verify FILE` runs each kernel against its reference and its stored time on this machine, and says
which answers still hold. The exit status is 1 if one does not. `--repair FILE` tunes those and
writes the file again. `--diff A B` prints what B has changed; the exit status is 1 if it has changed
anything.)",
    .options =
        {{"workload", "FILE",
          "The calls of a program: a file of autotune run --record, or TunableOp's CSV"},
         {"target", "T", "A target's name or the path of a manifest; default: all"},
         {"sizes", "S", "The sizes, as for query: M=1..64:1,N=512,K=512; 512,lda=520"},
         {"set", "NAME=VALUE", "A setting of the problem, such as dtype=f64", {}, true},
         {"device", "D", "The device: host, cuda:N, or a GPU's name such as h200", "cuda:0"},
         kContextOption,
         {"db", "FILE", "The database; default: $AUTOTUNE_DB, else the user's data folder"},
         {"output", "FILE", "The new lock"},
         {"fallback", "F",
          "What answers for other sizes: vendor (its library; an error without one) or error",
          "vendor", false, "vendor error"},
         {"bits",
          "B",
          "class: store the class of each kernel's bits, which runs here if it is not known; "
          "like=cublas: the same, and the library answers where a kernel has other bits",
          {},
          false,
          "class like=cublas"},
         kPluginOption,
         {"verify", "", "Run each answer of a lock, and say which hold"},
         {"repair", "", "The same; tune those that do not hold, and write the lock again"},
         {"diff", "", "Print what a second lock has changed"},
         {"within", "PERCENT", "How much slower than stored an answer may be", "10%"},
         {"budget", "B", "Of --repair, for each problem, as for tune"},
         {"jobs", "N", "Compile threads; default: all cores"},
         kCompileLimitOption},
    .positional = "FILE",
    .run = run_lock};

}  // namespace autotune::cli
