/** Opens the checkpoint store; if that fails, reports why and falls back to memory. */
import { accessSync, constants, existsSync, renameSync, rmSync } from "node:fs";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { makeFolder } from "../../kernel/base/system/folder.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createStateFactory } from "../../kernel/state/state-factory.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Health } from "../../kernel/supervisor/component.ts";
import type { MonitorOptions } from "../options.ts";
import { createEnvStore } from "./env-store.ts";
import { createMemoryStore } from "./memory-store.ts";
import { checkpointLocation, type CheckpointLocation } from "./location.ts";
import { checkpointStore } from "./tables.ts";
import type { NetworkMemory } from "./types.ts";

export interface CheckpointDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** The store in effect, for the status. */
export interface CheckpointStoreStatus {
  /** Of read positions. */
  readonly store: "file" | "memory";
  /** Empty without a file: it is there also when it has the evidence only. */
  readonly path: string;
  /**
   * Why the store differs from the configuration or began empty; undefined when all is as
   * configured.
   */
  readonly reason: string | undefined;
  /** Why the store takes no writes; undefined while it does. */
  readonly trouble: string | undefined;
  readonly bytes: number | undefined;
  /** Milliseconds since the last write; undefined before the first. */
  readonly persistAgeMs: number | undefined;
}

export interface Checkpoints {
  network(name: string): NetworkMemory;
  status(): CheckpointStoreStatus;
  /** Whether the store takes writes. */
  health(): Health;
  close(): Promise<void>;
}

/** Rejects only with the signal's reason. */
export async function openCheckpoints(
  deps: CheckpointDeps,
  options: MonitorOptions["checkpoint"],
  signal?: AbortSignal,
): Promise<Checkpoints> {
  if (options.store === "memory" && options.evidenceStore === "memory")
    return inMemory(deps, undefined);
  const location = checkpointLocation(options.filePath);
  try {
    makeFolder(location.directory);
    accessSync(location.directory, constants.W_OK | constants.X_OK);
    const { env, reason } = await openOrSetAside(deps, location, signal);
    if (location.path !== options.filePath)
      deps.log.info("the checkpoint file is opened with the extension .mdb", {
        configured: options.filePath,
        path: location.path,
      });
    return inFile(deps, { env, location, reason, options });
  } catch (thrown) {
    signal?.throwIfAborted();
    const error = toStewardError(thrown);
    const reason = `${location.path} cannot be used: ${error.message}`;
    deps.log.warn(
      "checkpoints are kept in memory only: after a restart windows begin at their initial lookback",
      {
        path: location.path,
        default: options.isDefault,
        remedy: "let this user write to the folder, or configure checkpoint.file_path",
        error,
      },
    );
    return inMemory(deps, reason);
  }
}

/** A damaged file is renamed, never silently replaced; a file of a newer Steward is left alone. */
async function openOrSetAside(
  deps: CheckpointDeps,
  location: CheckpointLocation,
  signal: AbortSignal | undefined,
): Promise<{ readonly env: Env; readonly reason: string | undefined }> {
  const factory = createStateFactory({
    directory: location.directory,
    clock: deps.clock,
    log: deps.log,
    version: deps.version,
    reserveBytes: 0,
  });
  const spec = { ...checkpointStore, name: location.name };
  try {
    return { env: await factory.open(spec, signal), reason: undefined };
  } catch (error) {
    if (!(error instanceof StewardError) || error.code !== "corrupt") throw error;
    const aside = freeName(`${location.path}.corrupt`);
    renameSync(location.path, aside);
    rmSync(`${location.path}-lock`, { force: true });
    deps.log.error(
      "the checkpoint file is damaged; it was renamed and windows start at their initial lookback",
      { path: location.path, aside, error },
    );
    return {
      env: await factory.open(spec, signal),
      reason: `a damaged file was renamed to ${aside}`,
    };
  }
}

/** Appends a number if the name is taken, so that an earlier damaged file is never overwritten. */
function freeName(path: string): string {
  let free = path;
  for (let number = 2; existsSync(free); number += 1) free = `${path}.${number}`;
  return free;
}

function inFile(
  { clock, log }: CheckpointDeps,
  {
    env,
    location,
    reason,
    options: { store, evidenceStore },
  }: {
    readonly env: Env;
    readonly location: CheckpointLocation;
    readonly reason: string | undefined;
    readonly options: MonitorOptions["checkpoint"];
  },
): Checkpoints {
  const stored = createEnvStore({ env, clock, log });
  const unstored = createMemoryStore(clock);
  const networks = new Map<string, NetworkMemory>();
  const openedMs = clock.now();
  return {
    network(name) {
      const known = networks.get(name) ?? {
        ...(store === "file" ? stored : unstored)(name),
        evidence: (evidenceStore === "file" ? stored : unstored)(name).evidence,
      };
      networks.set(name, known);
      return known;
    },
    status() {
      const { bytes, lastCommitAtMs, healthy, reason: why } = env.status();
      return {
        store,
        path: location.path,
        reason: why ?? reason,
        trouble: healthy ? undefined : (why ?? "the store is unavailable"),
        bytes,
        persistAgeMs: Math.max(0, clock.now() - (lastCommitAtMs ?? openedMs)),
      };
    },
    health() {
      const { healthy, reason: trouble = "the store is unavailable" } = env.status();
      return healthy ? { ok: true } : { ok: false, reason: trouble };
    },
    close: () => env.close(),
  };
}

function inMemory({ clock }: CheckpointDeps, reason: string | undefined): Checkpoints {
  return {
    network: createMemoryStore(clock),
    status: () => ({
      store: "memory",
      path: "",
      reason,
      trouble: undefined,
      bytes: undefined,
      persistAgeMs: undefined,
    }),
    health: () => ({ ok: true }),
    close: () => Promise.resolve(),
  };
}
