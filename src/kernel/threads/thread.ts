/**
 * Entry point of a service's thread: creates the service, answers calls, reports state, stops on
 * request.
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../base/clock.ts";
import { logConsole } from "../base/console-log.ts";
import { writeError } from "../base/error-message.ts";
import { assert } from "../base/errors.ts";
import { systemIds } from "../base/ids.ts";
import { collectStartGarbage } from "../base/start-garbage.ts";
import { createAnswers, plainRows } from "./answers.ts";
import { STATE_MS, type Boot } from "./boot.ts";
import { Dispatcher, type Post } from "./dispatcher.ts";
import { createSentLog } from "./log-lines.ts";
import { ownBytes, type FromThread, type ToThread } from "./messages.ts";
import { startResident, type Resident } from "./resident.ts";

const port = parentPort;
assert(port !== null, "this file is the entry of a thread");
const boot = workerData as Boot;
const sent = createSentLog(
  boot.log,
  (message) => port.postMessage(message),
  () => systemClock.now(),
);
const log = sent.log.child(boot.code.name);
logConsole(log);
const topics = new Set<string>();
const starting = new AbortController();
let dispatcher: Dispatcher | undefined;
let resident: Resident | undefined;

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
      return resident?.renewPorts(message.ports);
    case "stop":
      return void stop(message.deadlineMs);
  }
});

try {
  resident = await startResident(
    { clock: systemClock, ids: systemIds, log, publish, ports: boot.ports },
    boot.code,
    boot.options,
    starting.signal,
  );
  const { service } = resident;
  collectStartGarbage();
  dispatcher = new Dispatcher(createAnswers(service), post, systemClock);
  post({
    kind: "started",
    services: service.rpc.map((bound) => bound.desc.typeName),
    plain: plainRows(service),
  });
  sendState();
} catch (error) {
  post({ kind: "broken", error: writeError(error) });
}

function publish(topic: string, body: Uint8Array): void {
  if (topics.has(topic)) post({ kind: "event", topic, body: ownBytes(new Uint8Array(body)) });
}

function sendState(): void {
  sent.tell();
  if (resident === undefined) return;
  post({
    kind: "state",
    components: resident.supervisor.states(),
    ready: resident.supervisor.ready(),
  } satisfies FromThread);
  systemClock.timer(systemClock.monotonic() + STATE_MS, sendState);
}

async function stop(deadlineMs: number): Promise<void> {
  starting.abort();
  const stopped = resident;
  resident = undefined;
  dispatcher?.stop();
  await stopped?.supervisor.stop(deadlineMs);
  sent.tell();
  post({ kind: "stopped" });
}
