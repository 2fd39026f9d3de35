/** The decoders of what others send to the monitor, and what each promises of any input. */
import { Readable } from "node:stream";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { parseTree } from "../../../src/kernel/json/tree.ts";
import type { ServerRequest } from "../../../src/kernel/listen/exchange.ts";
import { parseTraceparent } from "../../../src/kernel/telemetry/tracing/traceparent.ts";
import { readAuditEvent } from "../../../src/monitor/audit/record.ts";
import { parsePolicy } from "../../../src/monitor/collectors/acl/policy-document.ts";
import { createEndpointReader } from "../../../src/monitor/enrich/addresses.ts";
import { createFlowDecoder, type FlowRecord } from "../../../src/monitor/flows/record.ts";
import { createInstantReader } from "../../../src/monitor/ingest/instants.ts";
import { readRecording } from "../../../src/monitor/k8s/recording.ts";
import { ExpositionReader, linesOf } from "../../../src/monitor/nodemetrics/exposition.ts";
import { readName } from "../../../src/monitor/objectstore/object-keys.ts";
import { ObjectRefused, readRows } from "../../../src/monitor/objectstore/object-rows.ts";
import { AccessPolicy } from "../../../src/monitor/policy/access-policy.ts";
import { readBody } from "../../../src/monitor/receivers/read-body.ts";
import { Refusal } from "../../../src/monitor/receivers/refusal.ts";
import { createBatchReader } from "../../../src/monitor/receivers/stream/batch.ts";
import type { Ingest } from "../../../src/monitor/receivers/target.ts";
import { readEvents } from "../../../src/monitor/receivers/webhook/event.ts";
import { readSignature } from "../../../src/monitor/receivers/webhook/signature.ts";
import type { Decoder } from "./fuzz.ts";

const never = new AbortController().signal;
const MAX_BODY = 256 * 1024;

const flow = {
  logged: "2026-09-21T14:13:30Z",
  nodeId: "nAAAcntrl",
  start: "2026-09-21T14:13:20.123456789Z",
  end: "2026-09-21T14:13:25+02:00",
  virtualTraffic: [
    { proto: 6, src: "100.64.0.7:51514", dst: "100.64.0.9:443", txPkts: 9, txBytes: 1200 },
    { src: "[fd7a:115c:a1e0::1]:0", dst: "host.example.net:53", rxPkts: 8, rxBytes: 5400 },
  ],
  physicalTraffic: null,
  srcNode: { nodeId: "n1", name: "a.example.net", addresses: ["100.64.0.7"], tags: ["tag:web"] },
  dstNodes: [{ nodeId: "n2", name: "b", addresses: ["fd7a:115c:a1e0::2"], user: "ada" }],
};
const audit = {
  action: "UPDATE",
  origin: "ADMIN_CONSOLE",
  eventGroupID: "eg-71",
  actor: { id: "u-5", type: "USER", loginName: "ada@example.net", tags: ["tag:a"] },
  target: { id: "net-1", name: "example", type: "TAILNET", property: "ACL", isEphemeral: false },
  old: "a",
  new: { b: [1, 2.5e-3, null, true] },
  eventTime: "2026-09-21T14:13:31.5Z",
};
const wrapped = { time: 1790000010.5, event: flow, fields: { recorded: "2026-09-21T14:13:30Z" } };
const bodies = [
  JSON.stringify(wrapped) + JSON.stringify({ time: "1790000011", event: audit }),
  JSON.stringify({ logs: [wrapped, { logs: [flow, audit] }] }),
  JSON.stringify([flow, [audit], { event: { event: flow } }]),
  JSON.stringify(flow),
  `${JSON.stringify(flow)}\n\n${JSON.stringify(audit)}\r\n`,
];
const json = [
  ...'{}[],:"\\'.split(""),
  "null",
  "true",
  "-0",
  "1e999",
  "-1",
  "9007199254740993",
  '"\\ud800"',
  "\ufeff",
  "\0",
  "é",
  '"event":',
  '"logs":[',
  '"nodeId":"n",',
  '"virtualTraffic":[',
  '{"time":',
  '"__proto__":',
];
const oneText = [
  "\0",
  "\n",
  ":",
  "[",
  "]",
  ",",
  "=",
  "1e9",
  "65536",
  "%",
  "é",
  "😀",
  "-",
  "T",
  "Z",
  "0",
];

/** Members of a decoded record that were checked. */
function expectValid({ connections, start, end }: FlowRecord): void {
  if (start !== undefined && end !== undefined) expect(start.ms).toBeLessThanOrEqual(end.ms);
  for (const { txBytes, rxBytes, txPackets, rxPackets, protocol = 0, source } of connections) {
    for (const count of [txBytes, rxBytes, txPackets, rxPackets, protocol])
      expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
    expect(protocol).toBeLessThan(256);
    if (source !== undefined) expect(source.port).toBeLessThan(65_536);
  }
}

/** What JSON text stands for; undefined for text that is none. */
function valueOf(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString());
  } catch {
    return undefined;
  }
}

/** Throws what is no refusal. */
function expectRefusal(error: unknown, ...kinds: readonly (new (...of: never[]) => Error)[]): void {
  if (!kinds.some((kind) => error instanceof kind)) throw error;
}

const reader = createBatchReader(systemClock);

/** Reads a body; what it says of it is what it then counts. */
async function readBatch(input: Buffer): Promise<void> {
  const batch = await reader
    .read(input, { undecodable: () => undefined, invalid: () => undefined }, never)
    .catch((error: unknown) => expectRefusal(error, Refusal));
  if (batch === undefined) return;
  const counted = { flows: 0, audits: 0, connections: 0 };
  const ingest = {
    flows: {
      acceptDecoded: async (records: readonly FlowRecord[]) => {
        counted.flows += records.length;
        for (const record of records) {
          expectValid(record);
          counted.connections += record.connections.length;
        }
      },
    },
    audit: {
      accept: async ({ records }: { readonly records: readonly unknown[] }) => {
        counted.audits += records.length;
      },
    },
  } as unknown as Ingest;
  await batch.apply(ingest, never);
  const { flows, audits, connections, skipped } = batch;
  expect(counted).toEqual({ flows, audits, connections });
  expect(flows + audits + skipped.unclassified + skipped.unwrap_drop).toBeGreaterThan(0);
}

async function readPacked(input: Buffer): Promise<void> {
  for (const compression of ["gzip", "zstd"] as const) {
    const request = Object.assign(Readable.from([input], { objectMode: false }), { headers: {} });
    const body = await readBody(request as unknown as ServerRequest, {
      compression,
      maxBytes: MAX_BODY,
      allowance: { reserve: () => undefined, giveBack: () => undefined },
      signal: never,
    }).catch((error: unknown) => expectRefusal(error, Error));
    if (body !== undefined) expect(body.length).toBeLessThanOrEqual(MAX_BODY);
  }
}

async function readObject(input: Buffer): Promise<void> {
  const limits = { wireBytes: MAX_BODY, decompressedBytes: MAX_BODY, records: 1_000 };
  for (const packing of ["plain", "gzip", "zstd"] as const) {
    const cost = { wireBytes: 0, bytes: 0, records: 0 };
    const rows = await readRows(
      Readable.from([input], { objectMode: false }),
      { timeMs: 0, packing, recording: false },
      { object: limits, cycle: limits },
      cost,
      { clock: systemClock, signal: never },
    ).catch((error: unknown) => expectRefusal(error, ObjectRefused));
    if (rows !== undefined) expect(rows.length).toBeLessThanOrEqual(limits.records);
  }
}

async function readTree(input: Buffer): Promise<void> {
  const limits = { depth: 64, values: 10_000, members: 1_000, numberLength: 100, nameBytes: 1_024 };
  const parsed = await parseTree(input, { limits }).catch((error: unknown) =>
    expectRefusal(error, StewardError),
  );
  if (parsed === undefined) return;
  const text = new TextDecoder("utf-8", { fatal: true }).decode(input);
  expect(JSON.stringify(parsed)).toBe(JSON.stringify(JSON.parse(text)));
}

function comparePolicy(input: Buffer): void {
  const text = input.toString();
  const policy = new AccessPolicy();
  policy.set(text, parsePolicy(text));
  const end = { host: { kind: "ipv4", address: "100.64.0.7", overlay: true }, port: 443 } as const;
  const { verdict } = policy.judge(
    {
      type: 0,
      protocol: 6,
      source: end,
      destination: end,
      sourceText: "",
      destinationText: "",
      txBytes: 0,
      rxBytes: 0,
      txPackets: 0,
      rxPackets: 0,
    },
    { byAddress: () => undefined },
  );
  expect(["", "permitted", "no_rule", "undetermined"]).toContain(verdict);
}

const policies = [
  `{"acls": [{"action": "accept", "src": ["group:dev", "*"], "dst": ["tag:a:22,80-90", "10.0.0.0/8:*"], "proto": "tcp"}], // a
  "groups": {"group:dev": ["ada@example.net"]}, "hosts": {"h": "100.64.0.1"}, }`,
  `{"grants": [{"src": ["autogroup:member"], "dst": ["h"], "ip": ["tcp:443", "icmp:*"]}], "hosts": {"h": "fd7a::/16"}}`,
];
const recordings = [
  {
    type: "kubernetes-api-request",
    timestamp: 1790000010,
    kubernetes: { Verb: "get", Resource: "pods" },
    request: { method: "GET", path: "/api/v1/pods?command=a" },
    source: { node: "a", nodeTags: ["tag:a"] },
  },
  { version: 2, width: 80, height: 24, timestamp: 1790000010, srcNode: "a", command: "sh" },
];

export const decoders: Readonly<Record<string, Decoder>> = {
  "bodies of streams": { seeds: bodies, words: json, decode: readBatch },
  "compressed bodies": {
    seeds: bodies.flatMap((body) => [gzipSync(body), zstdCompressSync(body)]),
    words: ["\x1f\x8b", "\x28\xb5\x2f\xfd", "\0\0\0\0", "\xff\xff\xff\xff"],
    decode: readPacked,
  },
  "flow records": {
    seeds: [JSON.stringify(flow)],
    words: json,
    decode(input) {
      const decoded = createFlowDecoder().decode(valueOf(input), Date.now());
      if ("refused" in decoded) expect(decoded.refused.length).toBeGreaterThan(0);
      else expectValid(decoded);
    },
  },
  "audit records": {
    seeds: [JSON.stringify(audit)],
    words: json,
    decode: (input) => void readAuditEvent(valueOf(input), createInstantReader()),
  },
  "bodies of webhooks": {
    seeds: [
      JSON.stringify([
        {
          timestamp: "2026-09-21T14:20:00Z",
          version: 1,
          type: "nodeNeedsApproval",
          tailnet: "example.net",
          message: "Node alpha needs approval",
          data: { nodeID: "n", url: "https://admin.example/machines", oldRoles: ["a"] },
        },
      ]),
    ],
    words: json,
    async decode(input) {
      for (const { type, digest } of (await readEvents(input, createInstantReader())) ?? [])
        expect([type === "", digest.length]).toEqual([false, 44]);
    },
  },
  "signatures of webhooks": {
    seeds: [`t=1790000010,v1=${"a".repeat(64)},v1=${"0".repeat(64)}`, "t=1,v0=x , v1="],
    words: ["t=", "v1=", ",", "=", " ", "9999999999999"],
    decode(input) {
      const signature = readSignature(input.toString("latin1"));
      if (typeof signature === "string") return;
      expect(Number.isSafeInteger(Number(signature.seconds))).toBe(true);
      expect(signature.digests.length).toBeLessThanOrEqual(16);
    },
  },
  endpoints: {
    seeds: [
      "100.64.0.7:443",
      "[fd7a:115c:a1e0::7%eth0]:1",
      "a.example.net:0",
      "[::ffff:1.2.3.4]:9",
    ],
    words: oneText,
    decode(input) {
      const { host, port = 0 } = createEndpointReader().read(input.toString()) ?? {};
      expect(port).toBeLessThan(65_536);
      if (host !== undefined) expect(host.address).not.toBe("");
    },
  },
  times: {
    seeds: ["2026-09-21T14:13:30Z", "2026-09-21T14:13:30.123456789+02:00", "0001-01-01T00:00:00Z"],
    words: oneText,
    decode(input) {
      const instant = createInstantReader().read(input.toString());
      if (typeof instant === "object") expect(Number.isSafeInteger(instant.ms)).toBe(true);
    },
  },
  "access policies": {
    seeds: policies,
    words: [...json, "//", "/*", "*/", "tag:", ":*"],
    decode: comparePolicy,
  },
  "objects of buckets": {
    seeds: bodies.flatMap((body) => [body, gzipSync(body), zstdCompressSync(body)]),
    words: json,
    decode: readObject,
  },
  "keys of objects": {
    seeds: [
      "2026/09/21/14:13:30.ndjson.zst",
      "p/2026-09-21-14-13-30.json.gz",
      "2026-09-21T14:13:30.1Z",
    ],
    words: oneText,
    decode(input) {
      for (const layout of ["partitioned", "flat"] as const) {
        const name = readName(input.toString(), layout);
        if (name !== undefined) expect(Number.isSafeInteger(name.timeMs)).toBe(true);
      }
    },
  },
  "recordings of Kubernetes": {
    seeds: recordings.map((recording) => JSON.stringify(recording)),
    words: json,
    decode(input) {
      for (const isRecording of [true, false]) readRecording(valueOf(input), isRecording);
    },
  },
  "metrics of nodes": {
    seeds: [
      '# TYPE a_total counter\n# HELP a_total b\na_total{path="derp",x="\\"\\n"} 1.5e3 1790000010\nb 0x1F\n',
      'tailscaled_health_messages{type="warning"} 2\n',
    ],
    words: ["{", "}", '"', "\\", ",", "=", "\n", "# TYPE ", "NaN", "+Inf", "1e9"],
    decode(input) {
      const exposition = new ExpositionReader();
      for (const line of linesOf(input.toString())) exposition.read(line);
    },
  },
  "trace contexts": {
    seeds: [`00-${"a".repeat(32)}-${"b".repeat(16)}-01`],
    words: ["-", "00", "ff", "0".repeat(32)],
    decode(input) {
      const context = parseTraceparent(input.toString("latin1"), input.toString("latin1"));
      if (context !== undefined) expect(context.traceId).toMatch(/^[0-9a-f]{32}$/);
    },
  },
  "JSON trees": { seeds: bodies, words: json, decode: readTree },
};
