import { expect, it } from "vitest";
import type { Flow, FlowExport } from "../../../src/gen/flows-json.ts";
import { csvRow } from "../../../src/kernel/base/text/csv.ts";
import { createAnswers, plainMethod } from "../../../src/kernel/threads/calls/answers.ts";
import { createRemoteService } from "../../../src/kernel/threads/calls/remote-service.ts";
import { createCall, type PlainRequest } from "../../../src/kernel/service.ts";
import { exportCsv } from "../../../src/monitor/flowstore/export-csv.ts";
import { exportJson } from "../../../src/monitor/flowstore/export-json.ts";
import type { FlowExportAnswer } from "../../../src/monitor/flowstore/flow-export.ts";
import type { FlowStores } from "../../../src/monitor/flowstore/flow-store.ts";
import { FLOWS_CSV_ROUTE, flowsCsvRoute } from "../../../src/monitor/flowstore/flows-csv.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { noFilter, NOW_MS, openMemory, sampleFlow } from "./sample-flow.ts";

const signal = new AbortController().signal;

function answerOf(count: number): FlowExportAnswer {
  const rows = Array.from({ length: count }, (_, at) => ({
    ...sampleFlow({
      srcNode: `=cmd|"${at}"\r\n`,
      dstNode: "é\u{1f600}, b",
      srcUser: "\ud800",
      rule: (at % 3) - 1,
      reversed: at % 2 === 0,
      txBytes: at,
      rxBytes: 2 * Number.MAX_SAFE_INTEGER,
    }),
    timeMs: NOW_MS - at * 0.5,
    seq: at,
  }));
  return {
    stores: { kind: "lmdb", maxExportRows: 5_000 },
    shown: [],
    nowMs: NOW_MS,
    startMs: NOW_MS - 60_001,
    endMs: NOW_MS,
    filter: { ...noFilter, device: "a\nb" },
    page: { rows, matched: count, retained: count, isFull: false, next: undefined },
  };
}

it.each([0, 1, 3_000])("an export of %i rows is what its JSON has, as a table", async (count) => {
  const answer = answerOf(count);
  const json = await exportJson(answer, signal);
  const { rows, ...flows } = JSON.parse(Buffer.concat(json.pieces).toString()) as FlowExport;
  const { name, pieces } = await exportCsv(answer, signal);
  const lines = Buffer.concat(pieces).toString();
  const head = lines.split("\n").slice(0, 9);
  expect(name).toBe("steward-flows-_-20260504T120030Z.csv");
  expect(head.slice(0, 8)).toEqual([
    "# schema_version=1",
    "# Steward flow export",
    `# generated_at=${flows.generated_at}`,
    "# network=*",
    `# window_start=${flows.window.start} window_end=${flows.window.end}`,
    "# filters=device=a b",
    `# source=lmdb (${flows.source_note})`,
    `# matched=${count} returned=${count} retained=${count} truncated=false`,
  ]);
  const names = (head[8] ?? "").split(",");
  const wanted = rows.map((row) => csvRow(names.map((each) => cellOf(row, each))));
  const body = lines.slice(head.join("\n").length + 1);
  expect(body).toBe(
    Buffer.from(wanted.map((line) => line.replace(/\r\n$/, "\n")).join("")).toString(),
  );
  expect(pieces.length).toBe(count < 3_000 ? 1 : 3);
});

function cellOf(row: Flow, name: string): string | number | boolean | undefined {
  if (name === "time") return row.time.replace(/\.\d+/, "");
  if (name === "reversed") return row.reversed ?? false;
  return name in row.counts ? row.counts[name as keyof Flow["counts"]] : row[name as "src_node"];
}

it("a large export lets others run, and ends when nobody waits for it", async () => {
  const gone = new AbortController();
  setImmediate(() => gone.abort(new Error("the client has left")));
  await expect(exportCsv(answerOf(50_000), gone.signal)).rejects.toThrow("the client has left");
});

it("crosses from the monitor's thread as bytes, with its length", async () => {
  const clock = createManualClock();
  let seq = 0;
  const store = openMemory({ clock, nextSeq: () => (seq += 1) });
  for (let row = 0; row < 1_000; row += 1) store.record(sampleFlow({ timeMs: clock.now() }));
  const stores = {
    kind: "memory",
    retentionMs: 3_600_000,
    maxExportRows: 5_000,
    queryTimeoutMs: undefined,
    all: [store],
  } as unknown as FlowStores;
  const answer = createAnswers({
    name: "monitor",
    rpc: [],
    plain: [flowsCsvRoute({ clock, stores })],
  });
  const [route] = createRemoteService("monitor", [], [FLOWS_CSV_ROUTE], {
    call: async (method, body, { encoding }) => {
      expect(method).toBe(plainMethod(0));
      return answer(method, body, encoding, createCall({ requestId: "1", signal }));
    },
  }).plain;
  const ask = (query: string) =>
    route?.handle(
      {
        query: new URLSearchParams(query),
        params: {},
        body: () => Promise.resolve(new Uint8Array()),
      } as unknown as PlainRequest,
      createCall({ requestId: "1", signal }),
    );
  const { status, headers, body } = (await ask("network=lab")) ?? {};
  const pieces: Uint8Array[] = [];
  for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  expect([status, headers?.["content-length"]]).toEqual([200, String(bytes.length)]);
  expect(bytes.toString().split("\n")).toHaveLength(9 + 1_000 + 1);
  await expect(ask(`device=${"x".repeat(129)}`)).rejects.toMatchObject({ code: "invalid" });
  await expect(ask("network=nowhere")).rejects.toMatchObject({ code: "not_found" });
});
