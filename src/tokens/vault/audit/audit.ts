/**
 * The audit: every request and response is durable in a file before it takes effect or is sent.
 * While no device accepts records, all requests are refused.
 */
import { resolve } from "node:path";
import type { Clock } from "../../../kernel/base/clock.ts";
import { diskFaultOf } from "../../../kernel/base/system/disk-faults.ts";
import { ownMessage, StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { failedFor } from "../../../kernel/base/log/outage.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { Health } from "../../../kernel/supervisor/component.ts";
import type { Audit, AuditDeviceInfo } from "../types.ts";
import { openFileSink, type Flush, type Sink } from "./file-sink.ts";
import { createHasher, type Hasher } from "./hash.ts";
import { hashOfText } from "./pieces.ts";
import { createRecorder, type Recorder } from "./record.ts";
import { auditSalts } from "./tables.ts";

const SALT_BYTES = 32;
/**
 * A device that fails is tried with a record of its own until it takes it, so that it counts as
 * well without a request.
 */
const PROBE_EVERY_MS = 1_000;
/** A device that fails is logged no more often than this. */
const COMPLAIN_EVERY_MS = 60_000;

/** One device as it is configured. */
export interface AuditDeviceConfig {
  /** Absolute, or relative to the state folder; `discard` writes nothing. */
  readonly filePath: string;
  readonly hmacAccessor: boolean;
  readonly elideListResponses: boolean;
  /** Prefix of each line; empty by default. */
  readonly prefix?: string;
  /** Permission bits of the file; default 0600. */
  readonly mode?: number;
}

/** The environment holds `auditTables` and is unsealed. */
export interface AuditDeps {
  readonly env: Env;
  /** Where relative files begin. */
  readonly directory: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Runs after each write, see `Flush`. */
  readonly flush?: Flush;
}

/** The audit, and whether it is well. */
export interface AuditService extends Audit {
  /**
   * Which device does not take records, and why; `unable` when no device takes records, so that
   * every request is refused.
   */
  health(): Health;
}

interface Device {
  readonly info: AuditDeviceInfo;
  readonly name: string;
  readonly recorder: Recorder;
  readonly hasher: Hasher;
  readonly sink: Sink;
  failure: StewardError | undefined;
  /** Monotonic time of the first failed record since the last accepted one. */
  failedAtMs: number;
  complainAtMs: number;
  probe: Disposable | undefined;
}

/**
 * Opens the devices. Throws `invalid` for a misconfigured one and `disk_full` if not even an empty
 * file fits. A disk that fills up later causes requests to be refused until it has space.
 */
export async function openAudit(
  deps: AuditDeps,
  configs: readonly AuditDeviceConfig[],
): Promise<AuditService> {
  const { clock, ids, log } = deps;
  const devices: Device[] = [];
  let closed = false;
  const close = async (): Promise<void> => {
    closed = true;
    for (const { probe } of devices) probe?.[Symbol.dispose]();
    const ends = await Promise.allSettled(devices.map(({ sink }) => sink.close()));
    for (const end of ends)
      if (end.status === "rejected")
        log.warn("closing an audit file failed", { error: toStewardError(end.reason) });
  };
  try {
    for (const [index, config] of configs.entries())
      devices.push(await openDevice(deps, config, index));
  } catch (error) {
    await close();
    throw error;
  }

  async function put(device: Device, line: string | Promise<string>): Promise<void> {
    try {
      await device.sink.append(typeof line === "string" ? line : await line);
      if (device.failure !== undefined)
        log.info("an audit device accepts records again", {
          device: device.info.path,
          ...failedFor(clock, device.failedAtMs),
        });
      device.failure = undefined;
    } catch (thrown) {
      if (device.failure === undefined) device.failedAtMs = clock.monotonic();
      device.failure = refusal(device, thrown);
      if (clock.monotonic() >= device.complainAtMs) {
        device.complainAtMs = clock.monotonic() + COMPLAIN_EVERY_MS;
        log.error("an audit device accepts no records", {
          error: device.failure,
          device: device.info.path,
        });
      }
      if (!closed)
        device.probe ??= clock.timer(clock.monotonic() + PROBE_EVERY_MS, () => probe(device));
      throw device.failure;
    }
  }

  function probe(device: Device): void {
    device.probe = undefined;
    if (device.failure !== undefined) void test(device);
  }

  /** Sets `failure`; a failed test is retried. */
  const test = (device: Device): Promise<void> =>
    put(device, device.recorder.test(clock.now(), ids.uuid())).catch(() => undefined);

  async function record(lineFor: (device: Device) => string | Promise<string>): Promise<void> {
    const only = devices.length === 1 ? devices[0] : undefined;
    if (only !== undefined) return await put(only, lineFor(only));
    const ends = await Promise.allSettled(
      devices.map(async (device) => await put(device, lineFor(device))),
    );
    const failed = ends.filter((end) => end.status === "rejected");
    if (failed.length > 0 && failed.length === ends.length) throw failed[0]?.reason;
  }

  for (const device of devices) {
    if (device.sink.fresh) await test(device);
  }
  return {
    request: (request, error) =>
      record(({ recorder }) => recorder.request(clock.now(), request, error)),
    response: (request, response) =>
      record(({ recorder }) => recorder.response(clock.now(), request, response)),
    summary(summary) {
      const id = ids.uuid();
      return record(({ recorder }) => recorder.summary(clock.now(), id, summary));
    },
    async hash(path, input) {
      const device = devices.find(({ info }) => info.path === path);
      return device && (await hashOfText(input, device.hasher.begin())).hash;
    },
    devices: () => devices.map(({ info }) => info),
    async reopen() {
      const ends = await Promise.allSettled(devices.map(({ sink }) => sink.reopen()));
      const failed = ends.find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
    close,
    health() {
      const failing = devices.find(({ failure }) => failure !== undefined);
      return failing?.failure === undefined
        ? { ok: true }
        : {
            ok: false,
            reason: failing.failure.message,
            unable: devices.every(({ failure }) => failure !== undefined),
          };
    },
  };
}

async function openDevice(
  deps: AuditDeps,
  config: AuditDeviceConfig,
  index: number,
): Promise<Device> {
  const { clock, directory, env, ids } = deps;
  const hasher = createHasher(await saltOf(env, ids, config.filePath));
  const path = index === 0 ? "file/" : `file-${index + 1}/`;
  const { hmacAccessor, elideListResponses, prefix = "", mode = 0o600 } = config;
  return {
    info: {
      path,
      type: "file",
      description: "",
      options: {
        file_path: config.filePath,
        format: "json",
        hmac_accessor: String(hmacAccessor),
        elide_list_responses: String(elideListResponses),
        mode: mode.toString(8).padStart(4, "0"),
        ...(prefix === "" ? {} : { prefix }),
      },
    },
    name: config.filePath,
    hasher,
    recorder: createRecorder(hasher, { hmacAccessor, elideListResponses, prefix }),
    failure: undefined,
    failedAtMs: 0,
    complainAtMs: 0,
    probe: undefined,
    sink:
      config.filePath === "discard"
        ? DISCARD
        : await openFileSink(
            { clock, log: deps.log, ...(deps.flush === undefined ? {} : { flush: deps.flush }) },
            resolve(directory, config.filePath),
            mode,
          ),
  };
}

/** Made with the device, and never changed: what was hashed once is found for ever. */
async function saltOf(env: Env, ids: Ids, filePath: string): Promise<Uint8Array> {
  return (
    env.read((snapshot) => snapshot.get(auditSalts, filePath)) ??
    (await env.write((tx) => {
      const salt = tx.get(auditSalts, filePath) ?? ids.bytes(SALT_BYTES);
      tx.put(auditSalts, filePath, salt);
      return salt;
    }))
  );
}

/** Without the system's message, which a client could mistake for its own error. */
function refusal({ info, name }: Device, thrown: unknown): StewardError {
  const cause = toStewardError(thrown);
  const fault = diskFaultOf(thrown);
  const code =
    fault?.kind === "full"
      ? "disk_full"
      : fault !== undefined
        ? "not_ready"
        : cause.code === "exhausted" || cause.code === "not_ready"
          ? cause.code
          : "internal";
  return new StewardError(
    code,
    `the audit device ${info.path} (${name}) accepts no records: ${fault?.why ?? ownMessage(cause)}; each request needs an audit record`,
    {
      rule: "audit",
      remedy: fault?.remedy ?? cause.remedy ?? "make the file writable",
      cause: thrown,
      ...(cause.retryAfterMs === undefined ? {} : { retryAfterMs: cause.retryAfterMs }),
    },
  );
}

const DISCARD: Sink = {
  append: () => Promise.resolve(),
  reopen: () => Promise.resolve(),
  close: () => Promise.resolve(),
  fresh: false,
};
