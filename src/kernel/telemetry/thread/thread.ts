/**
 * The telemetry thread: receives scopes over ports, serves exports and scrapes. It holds no state
 * of its own: losing it interrupts export but loses no series.
 */
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { Concealment } from "../../base/log/concealment.ts";
import { assert } from "../../base/errors.ts";
import { fenceOf, type Fence } from "../../base/fence.ts";
import { collectStartGarbage } from "../../base/system/start-garbage.ts";
import type { HostMessage, HostReply, WriterMessage, WriterReply } from "../messages.ts";
import type { ExportPipeline } from "./export/pipeline.ts";
import { Gatherings } from "./pull/gatherings.ts";
import { Ledger } from "./ledger.ts";
import type { ThreadOptions } from "./options.ts";
import { createPostedLog } from "./posted-log.ts";
import { PullStats } from "./pull/pull-stats.ts";
import { startPullServer } from "./pull/pull-server.ts";
import type { PullServer } from "./pull/pull-server.ts";
import { RemoteScope } from "./remote-scope.ts";
import type { RowTable } from "./remote-scope.ts";
import { Scrapes } from "./pull/scrapes.ts";
import { sdkAttributes } from "./sdk-resource.ts";
import { WriterFiguresByPort } from "./writer-figures.ts";
import { waitFor } from "../../async/wait.ts";
import { atEndOfTurn } from "../../async/turns.ts";

/**
 * About a third of the CPU share of a serving thread when both compete for a core: serving comes
 * first, and exports still finish in time.
 */
const NICENESS = 5;

/**
 * Share of the response timeout that may be spent waiting for scopes: one that hangs is omitted,
 * and the others are served.
 */
const GATHER_SHARE = 0.5;

/** How long a stop waits for a receiver that failed before. */
const LAST_TRY_MS = 2_000;

const options = workerData as ThreadOptions;
assert(parentPort, "the telemetry thread is started by its host");
const host: MessagePort = parentPort;
const post = (message: HostReply, transfer: ArrayBuffer[] = []): void =>
  host.postMessage(message, transfer);

const scopes = new Set<RemoteScope>();
const writerFigures: WriterFiguresByPort = new WriterFiguresByPort();
const marks = new Map<number, PromiseWithResolvers<void>>();
/** Scrapes whose mark has not arrived; bounded by the host's readers. */
const waitingScrapes = new Set<number>();
const stopping = new AbortController();
let announced = false;
const concealment: Concealment = new Concealment();
const ledger: Ledger = new Ledger({
  now: () => systemClock.now(),
  changed: announceLedger,
  conceal: (text) => concealment.apply(text),
});
// Logging may coincide with a change of the ledger, e.g. of the certificate.
const log = createPostedLog((line) => {
  post(line);
  announceLedger();
});
const exporting: ExportPipeline | undefined = await loadExportPipeline();
const scrapes: Scrapes = new Scrapes({
  gatherings: gatheringsWithin(options.snapshotTimeoutMs),
  ledger,
  post,
});
const pull: PullServer | undefined = options.pull && openPull(options.pull);

lowerPriority();
host.on("message", (message: HostMessage) => void handleHostMessage(message));
collectStartGarbage();
post({ type: "ready" });

async function loadExportPipeline(): Promise<ExportPipeline | undefined> {
  const { metrics, logs, traces } = options;
  if ((metrics ?? logs ?? traces) === undefined) return undefined;
  const { createExportPipeline } = await import("./export/pipeline.ts");
  return createExportPipeline(options, {
    ledger,
    log,
    concealment,
    stopping: stopping.signal,
    dropped: announceLedger,
    write: (id, text) => post({ type: "output", id, text }),
  });
}

/**
 * Serving has priority where cores are few. Only Linux has per-thread priorities; elsewhere this
 * would slow down the whole process.
 */
function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(NICENESS);
  } catch {
    // A sandbox may forbid it; the thread then runs at normal priority.
  }
}

function gatheringsWithin(snapshotTimeoutMs: number): Gatherings {
  return new Gatherings({ scopes: () => scopes, ledger, snapshotTimeoutMs });
}

function openPull(pulled: NonNullable<ThreadOptions["pull"]>): PullServer {
  const gatherings = gatheringsWithin(
    pulled.timeoutMs === 0
      ? options.snapshotTimeoutMs
      : Math.min(options.snapshotTimeoutMs, pulled.timeoutMs * GATHER_SHARE),
  );
  const stats = new PullStats({
    now: () => systemClock.now(),
    changed: announceLedger,
    observe: (observed) => ledger.observe(observed),
  });
  return startPullServer(
    {
      clock: systemClock,
      log,
      stats,
      gather: (coalesce) => gatherings.take(coalesce),
    },
    pulled,
  );
}

/** Changes within one turn are announced once. */
function announceLedger(): void {
  if (announced) return;
  announced = true;
  atEndOfTurn(() => {
    announced = false;
    postLedger();
  });
}

function postLedger(): void {
  post({
    type: "ledger",
    ledger: ledger.view({
      logs: exporting?.logs?.queue.status(),
      traces: exporting?.traces?.queue.status(),
      scrapes: scrapes.running,
      pull: pull?.view(),
      others: writerFigures.view(),
    }),
    observed: ledger.takeObserved(),
  });
}

async function handleHostMessage(message: HostMessage): Promise<void> {
  switch (message.type) {
    case "attach":
      return attach(message.port, message.fence && fenceOf(message.fence, systemClock));
    case "flush":
      await marked(message.mark);
      if (message.after !== undefined) await marked(message.after);
      await exporting?.providers.flush();
      postLedger();
      return post({ type: "flushed", mark: message.mark });
    case "expose":
      // A scrape right after the start must not miss scopes still in transit.
      waitingScrapes.add(message.id);
      await marked(message.mark);
      return waitingScrapes.delete(message.id) ? scrapes.run(message.id, message.query) : undefined;
    case "written":
      return exporting?.output.written(message.id);
    case "pull-stop":
      await pull?.stop(message.deadlineMs);
      postLedger();
      return post({ type: "pull-stopped" });
    case "credit":
      return scrapes.credit(message.id);
    case "cancel":
      return waitingScrapes.delete(message.id) ? undefined : scrapes.cancel(message.id);
    case "stop":
      stopping.abort();
      void pull?.stop(0);
      await waitFor(
        marked(message.mark).then(() => exporting?.providers.shutdown()),
        {
          clock: systemClock,
          timeoutMs: ledger.failing
            ? Math.min(message.deadlineMs, LAST_TRY_MS)
            : message.deadlineMs,
        },
      );
      postLedger();
      return post({ type: "stopped" });
  }
}

/** Resolves when the mark has arrived. Each is awaited once. */
async function marked(mark: number): Promise<void> {
  const waiting = marks.get(mark) ?? Promise.withResolvers<void>();
  marks.set(mark, waiting);
  await waiting.promise;
  marks.delete(mark);
}

function passMark(mark: number): void {
  const waiting = marks.get(mark) ?? Promise.withResolvers<void>();
  marks.set(mark, waiting);
  waiting.resolve();
}

/** Attaches the port of a thread that writes series. */
function attach(port: MessagePort, fence: Fence | undefined): void {
  const rows: RowTable = new Map();
  const own = new Map<number, RemoteScope>();
  const reply = (message: WriterReply): void => port.postMessage(message);
  port.on("message", (message: WriterMessage) =>
    handleWriterMessage(message, { port, fence, rows, own, reply }),
  );
  port.on("close", () => {
    // While this thread stops, the last report still counts who closes just then.
    if (!stopping.signal.aborted) writerFigures.close(port);
    for (const scope of own.values()) closeScope(scope);
    own.clear();
  });
}

interface Writer {
  readonly port: MessagePort;
  readonly fence: Fence | undefined;
  readonly rows: RowTable;
  readonly own: Map<number, RemoteScope>;
  readonly reply: (message: WriterReply) => void;
}

function handleWriterMessage(message: WriterMessage, writer: Writer): void {
  if (message.type === "mark") return passMark(message.mark);
  if (message.type === "scope") return openScope(message, writer);
  if (message.type === "figures") {
    writerFigures.set(writer.port, message.figures);
    return announceLedger();
  }
  if (message.type === "rows")
    return message.rows.forEach((row) => writer.rows.set(row.number, row));
  if (message.type === "logs") {
    const { bytes, scopes: numbers, ends, cuts } = message.records;
    for (const [index, number] of numbers.entries()) {
      const from = writer.own.get(number);
      if (from) exporting?.logs?.emit(from, bytes.subarray(ends[index - 1] ?? 0, ends[index]));
    }
    for (const cut of cuts) {
      if (cut.body > 0) ledger.countCut("body", cut.body);
      if (cut.attribute > 0) ledger.countCut("attribute", cut.attribute);
    }
    return writer.reply({ type: "logs-ack", records: numbers.length });
  }
  if (message.type === "spans") {
    for (const span of message.spans) {
      const from = writer.own.get(span.scope);
      if (from) exporting?.traces?.add(from, span);
    }
    return writer.reply({ type: "spans-ack", spans: message.spans.length });
  }
  const scope = writer.own.get(message.scope);
  if (!scope) return;
  if (message.type === "labels") return scope.receiveLabels(message);
  if (message.type === "snapshot") return scope.receiveSnapshot(message);
  writer.own.delete(message.scope);
  closeScope(scope);
}

function openScope(message: Extract<WriterMessage, { type: "scope" }>, writer: Writer): void {
  const { resource, logResource } = message;
  const known = {
    ...message,
    resource: { ...resource, ...sdkAttributes },
    logResource: { ...logResource, ...sdkAttributes },
  };
  const scope = new RemoteScope(known, writer);
  writer.own.set(message.scope, scope);
  scopes.add(scope);
  exporting?.providers.open(scope);
}

function closeScope(scope: RemoteScope): void {
  scope.close();
  scopes.delete(scope);
  void exporting?.providers.close(scope);
}
