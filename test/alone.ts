/**
 * Test files that run in a process of their own (vitest.config.ts), and why. All others share
 * processes, one file after another.
 */
export const ALONE: Readonly<Record<string, string>> = {
  "test/dedup/analysis/verdicts.test.ts": "measures the memory of its process",
  "test/dedup/archives/jsonl.test.ts": "measures the off-heap memory of its process",
  "test/dedup/archives/pipe.test.ts": "looks through the open files of its process",
  "test/deploy/debian.test.ts": "changes the umask of its process",
  "test/faults/bodies.test.ts":
    "listens to a diagnostics channel, on which all requests of its process appear",
  "test/faults/slow-clients.test.ts": "measures the resident memory of its process",
  "test/faults/state/failing-calls.test.ts": "replaces node:fs",
  "test/faults/workers.test.ts": "counts the message ports of its process",
  "test/gateway/web/browser/clock.test.ts": "replaces fetch of its process",
  "test/kernel/client/faults.test.ts": "measures the off-heap memory of its process",
  "test/kernel/pool/processes.test.ts":
    "changes the environment and the program of its process for its children",
  "test/kernel/telemetry/report/runtime-report.test.ts":
    "counts the open files and the threads of its process",
  "test/profiling/profiles.test.ts": "profiles every thread of its process",
  "test/profiling/push.test.ts": "profiles every thread of its process",
  "test/profiling/threads.test.ts": "inspects every thread of its process",
  "test/kernel/state/small-disk.test.ts": "looks through the open files of its process",
  "test/kernel/state/folder/directory-lock.test.ts": "counts what garbage collection leaves",
  "test/kernel/state/file/last-write.test.ts": "ends all writes of its process",
};

/**
 * Test files that bound waits of seconds, or the CPU time of a process, and why. They run after all
 * others, three at a time: most of them wait more than they compute.
 */
export const WAITING: Readonly<Record<string, string>> = {
  "test/contract/coordination.test.ts": "replicas take over within the length of a lease",
  "test/faults/replicas.test.ts": "replicas take over within two lengths of a lease",
  "test/monitor/coordination/kubernetes/store.test.ts":
    "a lease goes over within half of its length",
  "test/monitor/coordination/election.test.ts": "a holder stops before its lease ends",
  "test/tokens/plugin/host-faults.test.ts": "a plugin ends in time when its host is gone",
  "test/contract/streaming.test.ts": "hostile bodies are refused within bounds of CPU time",
  "test/faults/decoders/decoders.test.ts":
    "whatever comes is decoded or refused in little CPU time",
};

/** Test files that bound short times, and why. They run last, one at a time. */
export const TIMED: Readonly<Record<string, string>> = {
  "test/contract/review-pages-large.test.ts": "pages of a large archive answer in time",
  "test/faults/loop.test.ts": "no request holds the event loop",
  "test/faults/dedup/loop.test.ts": "no call of a large archive holds the event loop",
  "test/faults/timing-requests.test.ts": "compares times of requests a few microseconds apart",
  "test/gateway/web/browser/landing-large.test.ts": "a large page is painted and filtered in time",
};
