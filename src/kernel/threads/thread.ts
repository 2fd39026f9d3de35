/**
 * Entry point of a service's thread: creates the service, answers calls, reports state, stops on
 * request.
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../base/clock.ts";
import { logConsole } from "../base/log/console-log.ts";
import { writeError } from "../base/error-message.ts";
import { assert } from "../base/errors.ts";
import { systemIds } from "../base/ids.ts";
import { collectStartGarbage } from "../base/system/start-garbage.ts";
import { createAnswers, plainRows } from "./calls/answers.ts";
import { STATE_MS, type Boot } from "./boot.ts";
import { Dispatcher, type Post } from "./calls/dispatcher.ts";
import { createThreadLog } from "./log-lines.ts";
import { ownBytes, type FromThread, type ToThread } from "./calls/messages.ts";
import { startServiceInstance, type ServiceInstance } from "./service-instance.ts";

type Ports = (ToThread & { readonly kind: "ports" })["ports"];

const port = parentPort;
assert(port !== null, "this file is the entry of a thread");
const boot = workerData as Boot;
const sent = createThreadLog(
  boot.log,
  (message) => port.postMessage(message),
  () => systemClock.now(),
);
const log = sent.log.child(boot.code.name);
logConsole(log);
const topics = new Set<string>();
const starting = new AbortController();
let dispatcher: Dispatcher | undefined;
let instance: ServiceInstance | undefined;
/** The newest ports that came while the service starts. */
let waitingPorts: Ports | undefined;
/** No heartbeats any more. */
let ended = false;

const post: Post = (message, transfer = []) => port.postMessage(message, [...transfer]);

port.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "call":
      return dispatcher?.call(message);
    case "cancel":
      return dispatcher?.cancel(message.id);
    case "credit":
      return dispatcher?.credit(message.id);
    case "listen":
      return void topics.add(message.topic);
    case "unlisten":
      return void topics.delete(message.topic);
    case "ports":
      return renewPorts(message.ports);
    case "stop":
      return void stop(message.deadlineMs);
  }
});

beat();
try {
  instance = await startServiceInstance(
    { clock: systemClock, ids: systemIds, log, publish, ports: boot.ports },
    boot.code,
    boot.options,
    starting.signal,
  );
  if (waitingPorts !== undefined) instance.renewPorts(waitingPorts);
  const { service } = instance;
  collectStartGarbage();
  dispatcher = new Dispatcher(createAnswers(service), post, systemClock);
  post({
    kind: "started",
    services: service.rpc.map((bound) => bound.desc.typeName),
    plain: plainRows(service),
  });
  sendState();
} catch (error) {
  ended = true;
  post({ kind: "broken", error: writeError(error) });
}

function renewPorts(ports: Ports): void {
  if (instance !== undefined) return instance.renewPorts(ports);
  for (const unused of Object.values(waitingPorts ?? {})) unused.close();
  waitingPorts = ports;
}

function publish(topic: string, body: Uint8Array): void {
  if (topics.has(topic)) post({ kind: "event", topic, body: ownBytes(new Uint8Array(body)) });
}

// Also while it starts, which may take long, so that a blocked start is noticed.
function beat(): void {
  sent.reportDropped();
  if (ended) return;
  sendState();
  systemClock.timer(systemClock.monotonic() + STATE_MS, beat);
}

function sendState(): void {
  post({
    kind: "state",
    components: instance?.supervisor.states() ?? [],
    ready: instance?.supervisor.ready() ?? { ok: false, reasons: ["it is starting"] },
  } satisfies FromThread);
}

async function stop(deadlineMs: number): Promise<void> {
  starting.abort();
  ended = true;
  const stopped = instance;
  instance = undefined;
  dispatcher?.stop();
  await stopped?.supervisor.stop(deadlineMs);
  sent.reportDropped();
  post({ kind: "stopped" });
}
