/** A host in memory: storage in a map, a clock that tests may set, a log that is kept. */
import type { Clock } from "../../../src/kernel/base/clock.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { Log } from "../../../src/kernel/base/log.ts";
import type {
  Data,
  Host,
  LogicalRequest,
  Operation,
  StorageView,
} from "../../../src/tokens/logical/types.ts";

/** A host whose insides tests may see. */
export interface MemoryHost extends Host {
  readonly stored: Map<string, Uint8Array>;
  readonly logged: string[];
  /** Every call of the storage. */
  readonly calls: string[];
}

/** An empty host. */
export function createMemoryHost(clock: Clock = systemClock): MemoryHost {
  const stored = new Map<string, Uint8Array>();
  const logged: string[] = [];
  const calls: string[] = [];
  return {
    stored,
    logged,
    calls,
    clock,
    log: memoryLog(logged),
    storage: memoryStorage(stored, calls),
    limits: () => ({ defaultLeaseTtlMs: 2_764_800_000, maxLeaseTtlMs: 2_764_800_000 }),
  };
}

function memoryStorage(stored: Map<string, Uint8Array>, calls: string[]): StorageView {
  return {
    get(key) {
      calls.push(`get ${key}`);
      return Promise.resolve(stored.get(key));
    },
    put(key, value) {
      calls.push(`put ${key}`);
      stored.set(key, value);
      return Promise.resolve();
    },
    delete(key) {
      calls.push(`delete ${key}`);
      stored.delete(key);
      return Promise.resolve();
    },
    list(prefix) {
      const names = [...stored.keys()]
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length).replace(/\/.*$/s, "/"));
      return Promise.resolve(
        [...new Set(names)].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
    },
  };
}

function memoryLog(logged: string[]): Log {
  const line =
    (level: string) =>
    (message: string, fields?: unknown): void =>
      void logged.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: () => memoryLog(logged),
  };
}

/** The machine's clock with both its times put forward as tests want. Timers go by the machine. */
export interface SteppedClock extends Clock {
  wallAheadMs: number;
  monotonicAheadMs: number;
}

/** Not put forward yet. */
export function createSteppedClock(): SteppedClock {
  const clock: SteppedClock = {
    wallAheadMs: 0,
    monotonicAheadMs: 0,
    now: () => systemClock.now() + clock.wallAheadMs,
    monotonic: () => systemClock.monotonic() + clock.monotonicAheadMs,
    timer: (atMs, run) => systemClock.timer(atMs - clock.monotonicAheadMs, run),
  };
  return clock;
}

/** A request as a host would make it. */
export function logical(
  operation: Operation,
  path: string,
  data: Data = {},
  more: Partial<LogicalRequest> = {},
): LogicalRequest {
  return {
    id: "7c1f3a52-0f6e-4d0c-9a3e-0a6f1d2b3c4d",
    operation,
    path,
    data,
    mountPoint: "github/",
    signal: new AbortController().signal,
    ...more,
  };
}
