/**
 * A monitor on this thread with a clock that moves by hand, control planes of plain values, and a
 * house at the other end of a port.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import {
  create,
  toBinary,
  type DescMethod,
  type JsonObject,
  type Message,
} from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { StatusSchema, type Status } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { CallReport } from "../../../src/kernel/client/types.ts";
import { createCall, type BoundService } from "../../../src/kernel/service.ts";
import { createSupervisor } from "../../../src/kernel/supervisor/supervisor.ts";
import type {
  MonitorOptions,
  NetworkOptions,
  PrivacyOptions,
} from "../../../src/monitor/options.ts";
import type { Provider } from "../../../src/monitor/providers/provider.ts";
import { createMonitorWith } from "../../../src/monitor/service.ts";
import {
  PROCESS_STATUS_PORT,
  type MetricFacts,
  type ProcessStatusMessage,
  type ProcessStatusRequest,
} from "../../../src/monitor/status/process/process-status.ts";
import { createManualClock, type ManualClock } from "../../kernel/supervisor/manual-clock.ts";

const categories = [
  "emails",
  "user_display_names",
  "user_ids",
  "hostnames",
  "node_ids",
  "vpn_ips",
  "internal_ips",
  "external_ips",
  "service_addrs",
  "endpoint_paths",
  "network_topology",
  "network_name",
  "free_text_details",
  "command_text",
] as const;
const everything = Object.fromEntries(categories.map((name) => [name, true])) as PrivacyOptions;
const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

/** What a process tells. */
export interface FakeProcess {
  readonly constants: Status;
  answer: Status;
  series: readonly MetricFacts[];
  /** It answers nothing while this holds. */
  silent: boolean;
  readonly pending: ProcessStatusRequest[];
}

/** A monitor that runs. */
export interface MonitorStage {
  readonly clock: ManualClock;
  readonly service: BoundService;
  /** Moves on, and lets ports and disks come to rest. */
  readonly advance: (ms: number) => Promise<void>;
  readonly status: () => Promise<JsonObject>;
  readonly document: (method: keyof typeof StatusService.method) => Promise<JsonObject>;
  readonly message: () => Promise<Status>;
  /** Tells of a call to the control plane of a network. */
  readonly called: (network: string, report: CallReport) => void;
  /** Gives the monitor a new port to another process. */
  readonly moveTo: (processStatus: FakeProcess) => void;
}

/** A house that tells these parts and no catalogue of its own. */
export function fakeProcess(constants: Status, answer: Status = create(StatusSchema)): FakeProcess {
  return { constants, answer, series: [], silent: false, pending: [] };
}

/** Options of a monitor with these networks. */
export function stageOptions(
  networks: readonly NetworkOptions[],
  more: Partial<MonitorOptions> = {},
): MonitorOptions {
  const directory = mkdtempSync(join(tmpdir(), "steward-status-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return {
    version: "1.0.0",
    networks,
    several: networks.length > 1,
    privacy: everything,
    resource: { "service.name": "steward" },
    logs: undefined,
    metricIntervalMs: 60_000,
    checkpoint: {
      store: "memory",
      filePath: join(directory, "checkpoints.mdb"),
      isDefault: true,
      evidenceStore: "memory",
    },
    versionChecks: {
      devices: false,
      url: "http://127.0.0.1:9/",
      cacheTtlMs: 60_000,
      timeoutMs: 1_000,
    },
    annotations: undefined,
    events: { enabled: true, maxEvents: 100 },
    selfObservability: { enabled: true, instanceId: "" },
    configWarnings: 0,
    ...more,
  };
}

/** Starts it; it stops with the test. */
export async function startStage(
  options: MonitorOptions,
  providers: Readonly<Record<string, Provider>>,
  processStatus?: FakeProcess,
): Promise<MonitorStage> {
  const clock = createManualClock();
  const supervisor = createSupervisor({ clock, log });
  const observers = new Map<string, (report: CallReport) => void>();
  let hear: (ports: Readonly<Record<string, MessagePort>>) => void = () => undefined;
  const context = {
    clock,
    ids: systemIds,
    log,
    publish: () => undefined,
    ports: processStatus === undefined ? {} : portTo(processStatus),
    add: (component: Parameters<typeof supervisor.add>[0]) => supervisor.add(component),
    onPorts: (handler: typeof hear) => void (hear = handler),
  };
  const monitor = await createMonitorWith(context, options, ({ name }, { observe }) => {
    observers.set(name, observe);
    const provider = providers[name];
    if (provider === undefined) throw new Error(`there is no control plane for ${name}`);
    return provider;
  });
  await supervisor.start().catch(() => undefined);
  onTestFinished(async () => {
    const stopped = supervisor.stop(1_000);
    await clock.advance(2_000);
    await stopped;
  });
  const [service] = monitor.rpc;
  if (service === undefined) throw new Error("the monitor has no service");
  const call = createCall({ signal: new AbortController().signal, requestId: "r" });
  const document = async (method: DescMethod): Promise<JsonObject> => {
    const written = await (service.json?.(method)?.(create(method.input), call) ??
      Promise.reject(new Error("not written here")));
    if (written instanceof Uint8Array || written.encoding !== undefined)
      throw new Error("it is packed, and nobody asked for that");
    return JSON.parse(Buffer.concat(written.pieces).toString()) as JsonObject;
  };
  return {
    clock,
    service,
    async advance(ms) {
      for (let at = 0; at < 20; at += 1) await setImmediate();
      await clock.advance(ms);
      for (let at = 0; at < 20; at += 1) await setImmediate();
    },
    status: () => document(StatusService.method.getStatus),
    document: (name) => document(StatusService.method[name]),
    async message() {
      const handler = service.handler(StatusService.method.getStatus) as (
        request: Message,
        given: typeof call,
      ) => Promise<{ readonly status: Status }>;
      return (await handler(create(StatusService.method.getStatus.input), call)).status;
    },
    called: (network, report) => observers.get(network)?.(report),
    moveTo: (next) => hear(portTo(next)),
  };
}

function portTo(processStatus: FakeProcess): Record<string, MessagePort> {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage({
    kind: "constants",
    status: toBinary(StatusSchema, processStatus.constants),
    metrics: [],
    records: [],
  } satisfies ProcessStatusMessage);
  port1.on("message", (question: ProcessStatusRequest) => {
    processStatus.pending.push(question);
    if (processStatus.silent) return;
    port1.postMessage({
      kind: "answer",
      id: question.id,
      status: toBinary(StatusSchema, processStatus.answer),
      series: processStatus.series,
    } satisfies ProcessStatusMessage);
  });
  onTestFinished(() => port1.close());
  return { [PROCESS_STATUS_PORT]: port2 };
}
