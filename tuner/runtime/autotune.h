/* SPDX-License-Identifier: Apache-2.0
 * libautotune: looks up the tuned configuration of a kernel for given sizes, compiles and launches
 * it. Plain C. No function throws or aborts. Functions return a status; autotune_message() has the
 * error in one sentence. All functions are thread-safe, also on one handle. Sizes and lengths count
 * elements; names say where they are bytes. */
#ifndef AUTOTUNE_H
#define AUTOTUNE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AUTOTUNE_API __attribute__((visibility("default")))
#else
#define AUTOTUNE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions or fields are added at the end. Existing ones never change. */
#define AUTOTUNE_ABI 1

typedef enum autotune_status {
  AUTOTUNE_OK = 0,
  AUTOTUNE_WRONG_USAGE = 1, /* an argument is missing or invalid */
  AUTOTUNE_NOT_FOUND = 2,   /* no such target, or no configuration is valid for these sizes */
  AUTOTUNE_NO_DEVICE = 3,   /* this needs a GPU, and there is none */
  AUTOTUNE_FAILED = 4       /* anything else; see autotune_message() */
} autotune_status;

/* The source of an answer, best first. */
typedef enum autotune_origin {
  AUTOTUNE_EXACT = 0,             /* for exactly these sizes; `provenance` says how it was found */
  AUTOTUNE_TRANSFERRED = 1,       /* chosen from results at near sizes; valid for these */
  AUTOTUNE_SAME_ARCHITECTURE = 2, /* the same, from another GPU of this compute capability */
  AUTOTUNE_DEFAULT = 3            /* nothing near is known: the default, or the model's choice */
} autotune_origin;

/* Whether the answer still fits the environment. */
typedef enum autotune_validity {
  AUTOTUNE_VALID = 0,
  AUTOTUNE_ENVIRONMENT_DRIFTED = 1, /* tuned with another driver or CUDA version */
  AUTOTUNE_SOURCE_DRIFTED = 2,      /* the kernel has changed since; still valid in its space */
  AUTOTUNE_ALIKE_SETTINGS = 3       /* tuned with settings that take the same times (`alike`) */
} autotune_validity;

/* One target with fixed settings on one device. */
typedef struct autotune_handle autotune_handle;
/* One configuration, compiled for the device. */
typedef struct autotune_kernel autotune_kernel;

/* Set `size` to sizeof(autotune_options), and unused fields to NULL or 0. */
typedef struct autotune_options {
  size_t size;
  const char* target;   /* a name, or the path of a manifest; required */
  const char* settings; /* `dtype=f64 layout=NT`; others take the target's default */
  /* How the times of results were taken. Default on a GPU: `l2=hot launch=graph context=between`.
   * For results of `--objective energy` or `edp`, for example:
   * `l2=hot launch=graph objective=energy context=between`. */
  const char* policy;
  /* Databases, the uppermost first. `user_database` NULL: the tool's default database. A lock
   * (docs/lock.md) in its place answers alone: no database is read, no kernel is compiled, and
   * first_use_ms and earn have no effect. A lock that is damaged or of another device is an error.
   * `shipped_database` NULL: that of this installation; an empty text: none. A missing or damaged
   * file counts as empty; autotune_warnings() reports it. */
  const char* user_database;
  const char* site_database;
  const char* shipped_database; /* opened as on a read-only medium */
  /* The device's name, or `host` for this computer's processor. Of several GPUs of one name, the
   * GPU `ordinal`, or the first of them if that is 0. A GPU `ordinal` of another name is an error.
   * NULL: the GPU `ordinal`; without a GPU, the device with the most rows in the uppermost database
   * that has any. */
  const char* device;
  int32_t ordinal;
  int32_t tuned_only; /* 1: never call a vendor's library instead of a tuned kernel */
  /* 1: kernels that can start early (CUDA's programmatic dependent launch) do so wherever it may
   * help, also in streams that are not captured. Set it if such launches mostly follow each other.
   * 0: they do so only in a stream capture, where it was measured to be faster; see
   * autotune_launch(). Results are the same. */
  int32_t early_start;
  /* Milliseconds that autotune_prepare() may take, compilation included, to race the likeliest
   * configurations and the vendor's libraries at untuned sizes. The race runs on the GPU `ordinal`,
   * in buffers of its own. The first autotune_prepare() of a problem waits for it. The result is
   * stored in the user's database and is the answer from then on. If the race fails, the answer is
   * that of autotune_lookup(), and autotune_warnings() has the reason. Do not prepare such a
   * problem while a stream is being captured. 0: no race. */
  int64_t first_use_ms;
  /* NULL. Units are a setting of gemm in f32: units=fp32 leaves FP32 units only. */
  const char* alternative;
  /* The vendor's library that the program itself calls where autotune_answer.baseline is not empty,
   * such as `cublas`: it counts as computing every problem, and autotune_prepare() opens none.
   * NULL: the libraries of plugins (docs/plugin_abi.md). */
  const char* library;
  /* 1: where autotune_answer.is_open, the program's own calls find out whether the configuration or
   * the library is faster. A few of them are timed, by events on their stream, and run either way
   * in turn. So their bits may change from call to call until it is decided. What is found serves
   * from then on, and is stored in the user's database (provenance `in use`). Only calls are timed
   * that are not captured into a graph, on a stream that has work ahead of them, while no call uses
   * another stream. This may cost 2 % of the time of the problem's calls. Nothing is timed in
   * a rank of several, or with AUTOTUNE_EARN=0 in the environment. 0: nothing is. */
  int32_t earn;
} autotune_options;

/* Texts are valid until autotune_close(). */
typedef struct autotune_answer {
  size_t size;               /* set to sizeof(autotune_answer) */
  const char* configuration; /* `BM=64 BN=64`; empty where a lock names a library */
  const char* provenance;    /* pinned, measured, in use, imported, first use, predicted; empty:
                                default */
  autotune_origin origin;
  autotune_validity validity;
  double median_ns;  /* measured or predicted; of the near sizes if transferred; 0: unknown */
  double default_ns; /* of the default configuration at the same sizes; 0: unknown */
  double factor;     /* distance of the near sizes: 2 if each is off by two; 1 if exact, or if only
                        free sizes differ */
  /* If a vendor's library was faster than every configuration in the playoff: its plugin and
   * candidate, `cublas cublasSgemm`, and its time. Where it was not timed for these sizes, if it
   * computes them and no configuration is known to be faster: its plugin and the expected time, 0
   * if that is unknown. autotune_launch() then calls it. Else empty and 0. */
  const char* baseline;
  double baseline_ns;
  const char* target; /* whose configuration it is */
  /* Time of the configuration at these very sizes: measured if the origin is AUTOTUNE_EXACT, else
   * expected by the target's cost model and the times at near sizes. 0: unknown. */
  double expected_ns;
  int32_t is_open; /* 1: a library computes these sizes, and no times of this environment tell
                      whether it or the configuration is faster */
} autotune_answer;

/* The message of the last status other than AUTOTUNE_OK in this thread. */
AUTOTUNE_API const char* autotune_message(void);
/* AUTOTUNE_ABI of the loaded library. */
AUTOTUNE_API int32_t autotune_abi(void);

/* Reads the manifest and the databases, and closes the files. *handle is valid until
 * autotune_close(), and is set only on success. Waits for other processes that lock a database, 1 s
 * at most; the answers of a database that stays locked are missing. Needs no file locks where the
 * file system has none. */
AUTOTUNE_API autotune_status autotune_open(const autotune_options* options,
                                           autotune_handle** handle);
AUTOTUNE_API void autotune_close(autotune_handle* handle);

/* The name of the handle's device. */
AUTOTUNE_API const char* autotune_device(const autotune_handle* handle);
/* Where the handle's kernels are launched: the GPU's ordinal, or one of these. */
enum {
  AUTOTUNE_ON_HOST = -1, /* this computer's processor */
  AUTOTUNE_NOWHERE = -2  /* the device is not here: lookups, and preparing for a GPU, work */
};
AUTOTUNE_API int32_t autotune_place(const autotune_handle* handle);
/* How many sizes, such as M, N and K, must be given, in the order in which all functions take
 * them. */
AUTOTUNE_API size_t autotune_sizes(const autotune_handle* handle);
/* The name of any of the autotune_all_sizes(); "" beyond. */
AUTOTUNE_API const char* autotune_size_name(const autotune_handle* handle, size_t index);
/* Problems with the databases when they were last read, and with the cache of compiled kernels, one
 * sentence a line. Empty if there were none. */
AUTOTUNE_API const char* autotune_warnings(const autotune_handle* handle);

/* The configuration for `count` sizes in the target's order. Opens no file and makes no CUDA call.
 * For tuned sizes, it neither locks nor allocates. For others, the first lookup takes some
 * milliseconds. */
AUTOTUNE_API autotune_status autotune_lookup(autotune_handle* handle, const int64_t* sizes,
                                             size_t count, autotune_answer* answer);

/* The same as text for people. Writes at most `capacity` bytes, including a final NUL; a longer
 * text is cut off. */
AUTOTUNE_API autotune_status autotune_explain(autotune_handle* handle, const int64_t* sizes,
                                              size_t count, char* text, size_t capacity);

/* Sets *is_faster to 1 if the answer of `other` is to be preferred to that of `handle`, else to 0,
 * for two that compute the same. Where both were tuned for these sizes, the one that was measured
 * to be faster is; elsewhere `other` is, if it is clearly expected to be faster. */
AUTOTUNE_API autotune_status autotune_is_faster(autotune_handle* other, const int64_t* other_sizes,
                                                size_t other_count, autotune_handle* handle,
                                                const int64_t* sizes, size_t count,
                                                int32_t* is_faster);

/* Makes a configuration (`BM=64 BN=64`) the answer for these sizes in this handle, until
 * autotune_refresh(). NULL removes it. Fails if it is not valid for these sizes. */
AUTOTUNE_API autotune_status autotune_pin(autotune_handle* handle, const int64_t* sizes,
                                          size_t count, const char* configuration);

/* Reads the databases again. Lookups may run meanwhile. If a database is gone, locked or damaged,
 * its previous answers and all pins stay, and the status is AUTOTUNE_FAILED. */
AUTOTUNE_API autotune_status autotune_refresh(autotune_handle* handle);

/* Compiles the answer, or takes it from the cache of compiled kernels. If it does not compile, the
 * default configuration replaces it. Needs a known GPU architecture, but no GPU; on the host, a C++
 * compiler. Release the kernel before closing its handle.
 *
 * Preparing and releasing are allowed while a stream is being captured into a CUDA graph, with one
 * exception. Do not release a kernel whose autotune_kernel_engine() is a vendor's library: closing
 * the library breaks the capture. */
AUTOTUNE_API autotune_status autotune_prepare(autotune_handle* handle, const int64_t* sizes,
                                              size_t count, autotune_kernel** kernel);
AUTOTUNE_API void autotune_release(autotune_kernel* kernel);

/* For the end of a program whose threads may still prepare kernels. Ends the compilations for GPUs
 * in this process, except during assembly, and does not wait for them. From then on,
 * autotune_prepare() fails where it has to compile. */
AUTOTUNE_API void autotune_stop_compiling(void);

/* What autotune_launch() runs. */
typedef enum autotune_engine {
  AUTOTUNE_TUNED_KERNEL = 0,   /* the configuration */
  AUTOTUNE_VENDOR_LIBRARY = 1, /* the vendor's library, which was measured to be faster */
  AUTOTUNE_VENDOR_MISSING = 2  /* the configuration, because the library cannot be used here */
} autotune_engine;

/* `text`, if not NULL, gets the library's name, or the reason why it cannot be used; else an empty
 * text. A library that fails at its first launch is not used again. Libraries are plugins
 * (docs/plugin_abi.md), found in AUTOTUNE_PLUGIN_PATH and lib/autotune/plugins. */
AUTOTUNE_API autotune_engine autotune_kernel_engine(const autotune_kernel* kernel,
                                                    const char** text);

/* The configuration that was finally compiled. */
AUTOTUNE_API const char* autotune_kernel_configuration(const autotune_kernel* kernel);
/* The compiled code. With grid, block and dynamic shared memory of each launch below, a program can
 * load and launch it itself. */
AUTOTUNE_API const void* autotune_kernel_binary(const autotune_kernel* kernel, size_t* bytes);

typedef struct autotune_geometry {
  size_t size;       /* set to sizeof(autotune_geometry) */
  const char* entry; /* the kernel's name in the binary */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3];
  uint64_t dynamic_shared_bytes;
} autotune_geometry;

AUTOTUNE_API size_t autotune_kernel_launches(const autotune_kernel* kernel);
AUTOTUNE_API autotune_status autotune_kernel_geometry(const autotune_kernel* kernel, size_t index,
                                                      autotune_geometry* geometry);

/* The names and sizes in bytes of the kernel's arrays, in the order of autotune_launch(): those of
 * the manifest, then its unchecked outputs, whose size may differ between kernels. The caller fills
 * prepared inputs itself. Checked outputs are not used and may be null. */
AUTOTUNE_API size_t autotune_kernel_buffers(const autotune_kernel* kernel);
AUTOTUNE_API const char* autotune_kernel_buffer(const autotune_kernel* kernel, size_t index,
                                                uint64_t* bytes);

typedef enum autotune_use {
  AUTOTUNE_READ = 0,
  AUTOTUNE_WRITTEN = 1,
  AUTOTUNE_READ_AND_WRITTEN = 2,
  AUTOTUNE_NOT_USED = 3 /* may be null */
} autotune_use;

/* A contiguous array. Texts are valid until autotune_release(). */
typedef struct autotune_buffer {
  size_t size; /* set to sizeof(autotune_buffer) */
  const char* name;
  const char* type; /* of its elements: f32, f64, i32, …; struct where members have several */
  autotune_use use;
  uint64_t length; /* elements */
} autotune_buffer;

AUTOTUNE_API autotune_status autotune_describe_buffer(const autotune_kernel* kernel, size_t index,
                                                      autotune_buffer* buffer);

/* Launches the kernel on `stream`, a cudaStream_t of the opened GPU. NULL is the default stream of
 * that GPU, whichever GPU is current in the calling thread. Where the thread's context is of that
 * GPU, the kernel runs in it, so all launches of a kernel must have one context. No call leaves
 * another context current than before. `buffers` has one address of the caller's device memory for
 * each buffer above, a multiple of the `alignment` that the target's manifest declares for it, or
 * of an element's size; otherwise the status is AUTOTUNE_WRONG_USAGE. Shipped targets ask for 16
 * bytes. Does not wait for the kernel. On the host, buffers are host memory, `stream` is ignored,
 * and the call waits for the kernel.
 *
 * The stream may be captured into a CUDA graph, in any mode. This includes the first call, which
 * loads the code and allocates the workspace. The graph holds the addresses of code, workspace and
 * buffers: keep the kernel while the graph is in use.
 *
 * Some kernels can start before the kernel ahead of them has ended; they wait for its results. This
 * saves time only if that kernel permits it, and costs up to 2 us otherwise. So a captured launch
 * gets such an edge only if the single node ahead of it is a kernel of this library that permits
 * it, and only for sizes at which an early start was measured to be faster in a chain of calls. In
 * a stream that is not captured, autotune_options.early_start decides.
 *
 * A kernel with workspace, or a vendor's library, must not run twice at a time, in streams or
 * graphs. Two executables of one graph have the same workspace, so they must not run at a time. */
AUTOTUNE_API autotune_status autotune_launch(autotune_kernel* kernel, void* const* buffers,
                                             size_t count, void* stream);

/* Bytes of device memory that the kernel itself holds, unless autotune_hold_constant() makes it
 * hold more. A kernel with any must not run twice at a time, see autotune_launch(). */
AUTOTUNE_API uint64_t autotune_kernel_workspace(const autotune_kernel* kernel);

/* The target's scalars, such as alpha and beta of gemm, and the members of structs that kernels
 * take by value, such as `grade.range.low`. `value` gets the value that the kernel was tuned with,
 * which autotune_launch() passes. */
AUTOTUNE_API size_t autotune_kernel_scalars(const autotune_kernel* kernel);
AUTOTUNE_API const char* autotune_kernel_scalar(const autotune_kernel* kernel, size_t index,
                                                double* value);

/* autotune_launch() with the caller's scalars: one value for each of those above, converted to its
 * type. gemm reads alpha and beta with the setting scale=beta, only alpha with scale=alpha. */
AUTOTUNE_API autotune_status autotune_launch_with(autotune_kernel* kernel, void* const* buffers,
                                                  size_t count, const double* scalars,
                                                  size_t scalar_count, void* stream);

/* Promises that the contents of the buffer `name` stay the same, such as the weights of a layer.
 * The next launch does all of its work. Later ones leave out what depends on this buffer alone,
 * such as splitting or packing it, as long as its address is the same. NULL ends the promise.
 * Kernels without such work are launched as before.
 *
 * A launch into a stream that is being captured leaves the work out only if a launch outside of
 * captures did it. So launch once before the capture. The result of that work stays for the graph:
 * launches with another buffer get a workspace of their own, of up to 16 in all. */
AUTOTUNE_API autotune_status autotune_hold_constant(autotune_kernel* kernel, const char* name);

/* Call this when the contents of that buffer have changed: the next launch does all of its work.
 * Graphs that were captured without this work use the results of that launch. So launch once
 * outside of a capture before you launch such a graph again. */
AUTOTUNE_API autotune_status autotune_invalidate(autotune_kernel* kernel);

/* How many sizes the target has, free sizes (docs/manifest.md) included, which come last. Those
 * after the first autotune_sizes() have a default. Every function that takes sizes also takes
 * fewer: the last ones may be left out, and AUTOTUNE_DEFAULT_SIZE may stand for others. 0 is a
 * value of a free size. A prepared kernel is for its sizes and free sizes. */
AUTOTUNE_API size_t autotune_all_sizes(const autotune_handle* handle);
enum {
  AUTOTUNE_DEFAULT_SIZE = -1, /* the default of a size that has one */
};

/* For a program that calls the library of autotune_options.library itself, with
 * autotune_options.earn. Says what is to run its next call of the prepared problem, on this stream:
 * the kernel by autotune_launch(), or the library. If *is_timed is set to 1, autotune_end_call()
 * must follow the call in the same thread; `has_run` is 0 if the call was not made. */
AUTOTUNE_API autotune_engine autotune_begin_call(autotune_kernel* kernel, void* stream,
                                                 int32_t* is_timed);
AUTOTUNE_API void autotune_end_call(autotune_kernel* kernel, void* stream, int32_t has_run);
/* Whether autotune_begin_call() may say other than AUTOTUNE_TUNED_KERNEL. */
AUTOTUNE_API int32_t autotune_kernel_earns(const autotune_kernel* kernel);

#ifdef __cplusplus
}
#endif
#endif
