/**
 * `bin/node bench/json.ts [ELEMENTS]`: the slicing reader beside JSON.parse of the whole, in the
 * same run: MB/s and the longest stall of the event loop, seen by a 2 ms timer. Prints one line of
 * JSON per text and reader.
 */
import { systemClock } from "../src/kernel/base/clock.ts";
import type { JsonBudget, JsonPath } from "../src/kernel/json/budget.ts";
import { values } from "../src/kernel/json/values.ts";

const CHUNK_BYTES = 64 * 1024;
const ROUNDS = 3;
const budget: JsonBudget = {
  bytes: 2 ** 30,
  depth: 64,
  stringBytes: 4 * 2 ** 20,
  elements: 10_000_000,
};

/** A device as a control API lists it, about 1.3 kB. */
function device(id: number): unknown {
  return {
    id: `${id}`,
    nodeId: `n${id}CNTRL`,
    name: `host-${id}.example.net`,
    hostname: `host-${id}`,
    os: "linux",
    user: `user${id % 100}@example.net`,
    addresses: [`100.64.${(id >> 8) & 255}.${id & 255}`, `fd7a::${id.toString(16)}`],
    tags: ["tag:server", `tag:zone-${id % 7}`],
    authorized: true,
    isExternal: false,
    clientVersion: "1.80.2-t1234567-g89abcde",
    created: "2025-01-02T03:04:05Z",
    lastSeen: "2026-02-03T04:05:06Z",
    expires: "2026-08-01T00:00:00Z",
    description: "Zürich – Büro",
    clientConnectivity: {
      endpoints: Array.from({ length: 4 }, (_, port) => `203.0.113.${id & 255}:${41_641 + port}`),
      mappingVariesByDestIP: false,
      latency: Object.fromEntries(
        Array.from({ length: 12 }, (_, region) => [
          `Region ${region}`,
          { latencyMs: 10.5 + region, preferred: region === 0 },
        ]),
      ),
      clientSupports: { ipv6: true, udp: true, upnp: null },
    },
    advertisedRoutes: ["10.0.0.0/8", "0.0.0.0/0"],
    enabledRoutes: ["10.0.0.0/8"],
    distro: { name: "debian", version: "12", codeName: "bookworm" },
  };
}

/** A connection of a flow log, about 0.1 kB. */
function flow(id: number): unknown {
  return {
    proto: 6,
    src: `100.64.0.${id & 255}:${1_024 + (id % 60_000)}`,
    dst: "100.64.1.1:443",
    txPkts: id,
    txBytes: id * 900,
    rxPkts: id,
    rxBytes: id * 400,
  };
}

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** Runs and watches the event loop; the stall is how much later than asked the timer came. */
async function measured(
  run: () => Promise<number>,
): Promise<{ elements: number; ms: number; stallMs: number }> {
  let stallMs = 0;
  let last = performance.now();
  const note = (): void => {
    const now = performance.now();
    stallMs = Math.max(stallMs, now - last - 2);
    last = now;
  };
  const timer = setInterval(note, 2);
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  stallMs = 0;
  const begin = performance.now();
  const elements = await run();
  const ms = performance.now() - begin;
  await new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
  clearInterval(timer);
  return { elements, ms, stallMs };
}

async function report(
  text: string,
  reader: string,
  bytes: number,
  run: () => Promise<number>,
): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    const { elements, ms, stallMs } = await measured(run);
    process.stdout.write(
      `${JSON.stringify({ text, reader, round, elements, megabytes: Number((bytes / 1e6).toFixed(1)), mbPerSecond: Math.round(bytes / 1e3 / ms), elementsPerSecond: Math.round((elements / ms) * 1_000), longestStallMs: Number(stallMs.toFixed(1)) })}\n`,
    );
  }
}

async function compare(
  text: string,
  body: string,
  at: "concatenated" | JsonPath,
  whole: (body: string) => number,
): Promise<void> {
  const bytes = Buffer.from(body);
  await report(text, "values", bytes.length, async () => {
    let count = 0;
    for await (const batch of values(chunks(bytes), at, budget, {
      sliceMs: 5,
      signal: new AbortController().signal,
      clock: systemClock,
    }))
      count += batch.length;
    return count;
  });
  await report(text, "JSON.parse", bytes.length, async () => whole(bytes.toString("utf8")));
}

const count = Number(process.argv[2] ?? 10_000);
const listed = (body: string): number => (JSON.parse(body) as { list: unknown[] }).list.length;
const lined = (body: string): number =>
  body
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown).length;
await compare(
  `${count} devices`,
  JSON.stringify({ list: Array.from({ length: count }, (_, id) => device(id)), next: null }),
  ["list"],
  listed,
);
await compare(
  `${count * 10} flows`,
  JSON.stringify({ list: Array.from({ length: count * 10 }, (_, id) => flow(id)) }),
  ["list"],
  listed,
);
await compare(
  `${count} lines`,
  Array.from({ length: count }, (_, id) => `${JSON.stringify(device(id))}\n`).join(""),
  "concatenated",
  lined,
);
await compare(
  `${count} texts`,
  JSON.stringify({
    list: Array.from({ length: count }, (_, id) => ({
      id,
      content: 'Rechnung über Möbel \\ "eins"\n'.repeat(60),
    })),
  }),
  ["list"],
  listed,
);
