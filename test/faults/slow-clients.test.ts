import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startGateway } from "../gateway/start-gateway.ts";

/** Far fewer than the places there are; `admission.test.ts` has thousands. */
const CLIENTS = 100;
/** As shipped. */
const HEADER_MS = 10_000;
const HEAD = "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n";
const BODY =
  "POST /steward.dedup.v1.JobService/GetJob HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n";
/**
 * What a client sends a byte of every 50 ms: a head that never ends, a body that never ends, half
 * of HTTP/2's preface, nothing.
 */
const KINDS: readonly string[] = [
  `${HEAD}X-Slow: ${"a".repeat(10_000)}`,
  `${BODY}${" ".repeat(900)}`,
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r",
  "",
];

interface SlowClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

async function open(port: number, index: number): Promise<SlowClient> {
  const socket = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined).resume();
  // Not once(): that one rejects for a reset, which is as good an end as any.
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await Promise.race([
    new Promise<void>((resolve) => socket.once("connect", () => resolve())),
    closed,
  ]);
  const text = KINDS[index % KINDS.length] ?? "";
  let at = text.startsWith("POST") ? BODY.length : 20;
  socket.write(text.slice(0, at));
  const timer = setInterval(() => socket.writable && socket.write(text.slice(at, (at += 1))), 50);
  void closed.then(() => clearInterval(timer));
  return { socket, closed };
}

it(`${CLIENTS} clients that send a byte at a time are all cut off, and a quick one is served meanwhile`, async () => {
  // The limits as shipped: 10 s for a head, 30 s for a body.
  const { gateway, url } = await startGateway({});
  const before = process.memoryUsage().rss;
  const slow: SlowClient[] = [];
  // Not all at once: more than the system's queue holds would believe they are connected, and the
  // server never hear of them.
  while (slow.length < CLIENTS)
    slow.push(
      ...(await Promise.all(Array.from({ length: 100 }, (_, index) => open(gateway.port, index)))),
    );
  let slowestMs = 0;
  for (let ask = 0; ask < 20; ask += 1) {
    const begin = performance.now();
    const answer = await fetch(`${url}/api/v1/jobs`);
    expect(answer.status).toBe(200);
    await answer.text();
    slowestMs = Math.max(slowestMs, performance.now() - begin);
  }
  await Promise.all(slow.map(({ closed }) => closed));
  await expect.poll(() => gateway.inFlight()).toBe(0);
  expect(gateway.connections()).toBeLessThan(20);
  // Nobody waits until the slow ones are cut.
  expect(slowestMs).toBeLessThan(HEADER_MS);
  // Both ends live in this process: at most 100 KiB for each pair.
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20 + CLIENTS * 100 * 1024);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

it("slow heads beyond the limit take each other's places and nobody else's", async () => {
  const { gateway, url } = await startGateway({}, { connections: 50, headerMs: 60_000 });
  const kept = (await fetch(`${url}/healthz`)).status;
  const slow = await Promise.all(
    Array.from({ length: 60 }, (_, index) => open(gateway.port, index)),
  );
  expect(kept).toBe(200);
  await expect
    .poll(() => slow.filter(({ socket }) => socket.destroyed || socket.readableEnded).length)
    .toBeGreaterThanOrEqual(10);
  expect(gateway.connections()).toBeLessThanOrEqual(50);
  for (let ask = 0; ask < 20; ask += 1)
    expect((await fetch(`${url}/api/v1/jobs`, { headers: { connection: "close" } })).status).toBe(
      200,
    );
});
