/* SPDX-License-Identifier: Apache-2.0
 * libautotune: the tuned configuration of a kernel for the sizes at hand, and the kernel itself.
 * Plain C. Nothing throws or aborts; every function returns a status, and autotune_message() says
 * in one sentence what was wrong. A handle may be used by any number of threads. */
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

/* Grows when functions or fields are added at the end; never changes what is there. */
#define AUTOTUNE_ABI 1

typedef enum autotune_status {
  AUTOTUNE_OK = 0,
  AUTOTUNE_WRONG_USAGE = 1, /* an argument is missing or makes no sense */
  AUTOTUNE_NOT_FOUND = 2,   /* no such target, or no configuration is valid for these sizes */
  AUTOTUNE_NO_DEVICE = 3,   /* this needs a GPU, and there is none */
  AUTOTUNE_FAILED = 4       /* anything else; see autotune_message() */
} autotune_status;

/* Where an answer comes from, best first. */
typedef enum autotune_origin {
  AUTOTUNE_EXACT = 0,             /* for these very sizes; `provenance` says how it was found */
  AUTOTUNE_TRANSFERRED = 1,       /* the winner of near sizes, valid here */
  AUTOTUNE_SAME_ARCHITECTURE = 2, /* tuned on another GPU of this compute capability */
  AUTOTUNE_DEFAULT = 3            /* the target's default configuration */
} autotune_origin;

/* How well it still fits. */
typedef enum autotune_validity {
  AUTOTUNE_VALID = 0,
  AUTOTUNE_ENVIRONMENT_DRIFTED = 1, /* tuned under another driver or CUDA version */
  AUTOTUNE_SOURCE_DRIFTED = 2       /* the kernel has changed since; still valid in its space */
} autotune_validity;

/* One target with fixed settings on one device. */
typedef struct autotune_handle autotune_handle;
/* One configuration, compiled for the device. */
typedef struct autotune_kernel autotune_kernel;

/* Set `size` to sizeof(autotune_options) and what is not needed to NULL or 0. */
typedef struct autotune_options {
  size_t size;
  const char* target;   /* a name, or the path of a manifest; required */
  const char* settings; /* `dtype=f64 layout=NT`; the target's defaults where not given */
  const char* policy;   /* `l2=hot launch=graph`, the default */
  /* Databases, uppermost first; NULL for the user's is the tool's own default place. A file that is
   * missing or damaged counts as empty; autotune_warnings() tells. */
  const char* user_database;
  const char* site_database;
  const char* shipped_database; /* read as if on a read-only medium */
  /* The device that is asked about; NULL: the GPU `ordinal`, or without one the device that the
   * databases tell most about. */
  const char* device;
  int32_t ordinal;
  int32_t tuned_only; /* 1: never call a vendor's library in place of a tuned kernel */
} autotune_options;

/* Texts stay valid until autotune_close(). */
typedef struct autotune_answer {
  size_t size;               /* set to sizeof(autotune_answer) */
  const char* configuration; /* `BM=64 BN=64` */
  const char* provenance;    /* pinned, measured, imported, predicted; empty for a default */
  autotune_origin origin;
  autotune_validity validity;
  double median_ns;  /* as measured or predicted, of near sizes when transferred; 0: unknown */
  double default_ns; /* of the default configuration there; 0 when unknown */
  double factor;     /* how far the near sizes are: 2 when each is off by two; 1 when exact */
  /* Where the playoff found a vendor's library faster than any configuration, its plugin and what
   * it chose: `cublas cublasSgemm`, which autotune_launch() calls then. Else empty, and 0. */
  const char* baseline;
  double baseline_ns;
} autotune_answer;

/* The sentence for the last status other than AUTOTUNE_OK in this thread. */
AUTOTUNE_API const char* autotune_message(void);
/* AUTOTUNE_ABI of the library that is loaded. */
AUTOTUNE_API int32_t autotune_abi(void);

/* Reads manifest and databases and closes them again. */
AUTOTUNE_API autotune_status autotune_open(const autotune_options* options,
                                           autotune_handle** handle);
AUTOTUNE_API void autotune_close(autotune_handle* handle);

/* The name of the device that is asked about. */
AUTOTUNE_API const char* autotune_device(const autotune_handle* handle);
/* What was wrong with the databases when they were last read, one sentence a line; empty when
 * nothing was. */
AUTOTUNE_API const char* autotune_warnings(const autotune_handle* handle);

/* The configuration for `count` sizes in the target's order. No file, no CUDA call; for tuned
 * sizes no lock and no allocation either. */
AUTOTUNE_API autotune_status autotune_lookup(autotune_handle* handle, const int64_t* sizes,
                                             size_t count, autotune_answer* answer);

/* The same as text for a person. Writes at most `capacity` bytes, a final NUL included. */
AUTOTUNE_API autotune_status autotune_explain(autotune_handle* handle, const int64_t* sizes,
                                              size_t count, char* text, size_t capacity);

/* Makes a configuration (`BM=64 BN=64`) the answer for these sizes in this handle, until refresh;
 * NULL takes that back. Refused when it is not valid for them. */
AUTOTUNE_API autotune_status autotune_pin(autotune_handle* handle, const int64_t* sizes,
                                          size_t count, const char* configuration);

/* Reads the databases again. Lookups go on meanwhile. A database that is gone, locked or damaged
 * keeps the answers that it had, and pins stay: the status is AUTOTUNE_FAILED then. */
AUTOTUNE_API autotune_status autotune_refresh(autotune_handle* handle);

/* Compiles the answer, or takes it from the cache of compiled kernels. One that does not compile
 * gives way to the default. Needs a GPU's architecture to be known, not a GPU. The kernel must be
 * released before its handle is closed. Preparing and releasing are allowed while a stream is being
 * captured into a CUDA graph, but for the release of a kernel where autotune_kernel_engine() says
 * that a vendor's library is launched: closing that breaks the capture. */
AUTOTUNE_API autotune_status autotune_prepare(autotune_handle* handle, const int64_t* sizes,
                                              size_t count, autotune_kernel** kernel);
AUTOTUNE_API void autotune_release(autotune_kernel* kernel);

/* What autotune_launch() runs. */
typedef enum autotune_engine {
  AUTOTUNE_TUNED_KERNEL = 0,   /* the configuration */
  AUTOTUNE_VENDOR_LIBRARY = 1, /* the vendor's library, which was measured to be faster */
  AUTOTUNE_VENDOR_MISSING = 2  /* the configuration, as the library cannot be used here */
} autotune_engine;

/* `text`, where it is not NULL, gets the library's name, or why it cannot be used; else empty. A
 * library that fails at its first launch is given up then. Libraries are plugins
 * (docs/plugin_abi.md): AUTOTUNE_PLUGIN_PATH and lib/autotune/plugins are searched. */
AUTOTUNE_API autotune_engine autotune_kernel_engine(const autotune_kernel* kernel,
                                                    const char** text);

/* The configuration that was compiled in the end. */
AUTOTUNE_API const char* autotune_kernel_configuration(const autotune_kernel* kernel);
/* The compiled code, and of each of its launches grid, block and dynamic shared memory: for
 * programs that load and launch by themselves. */
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

/* The arrays that the kernel takes, in the order in which autotune_launch() wants them. */
AUTOTUNE_API size_t autotune_kernel_buffers(const autotune_kernel* kernel);
AUTOTUNE_API const char* autotune_kernel_buffer(const autotune_kernel* kernel, size_t index,
                                                uint64_t* bytes);

/* Launches it on `stream` (a cudaStream_t of the GPU that was opened) with device memory that the
 * caller owns, one address for each of the buffers above. Does not wait for it.
 *
 * The stream may be one that is being captured into a CUDA graph, in any mode, at the first call
 * too, which loads the code and allocates the workspace. The graph holds the addresses of code,
 * workspace and buffers: keep the kernel for as long as the graph is launched. One that needs
 * workspace, or a vendor's library, must not run twice at a time, be it from streams or graphs. */
AUTOTUNE_API autotune_status autotune_launch(autotune_kernel* kernel, void* const* buffers,
                                             size_t count, void* stream);

/* The scalars that the target has, such as alpha and beta of gemm, and what autotune_launch()
 * passes for each: the value that it was tuned with. */
AUTOTUNE_API size_t autotune_kernel_scalars(const autotune_kernel* kernel);
AUTOTUNE_API const char* autotune_kernel_scalar(const autotune_kernel* kernel, size_t index,
                                                double* value);

/* The same with the caller's own scalars, one value for each of those above, converted to its type.
 * gemm reads alpha and beta with the setting scale=beta, alpha alone with scale=alpha. */
AUTOTUNE_API autotune_status autotune_launch_with(autotune_kernel* kernel, void* const* buffers,
                                                  size_t count, const double* scalars,
                                                  size_t scalar_count, void* stream);

#ifdef __cplusplus
}
#endif
#endif
