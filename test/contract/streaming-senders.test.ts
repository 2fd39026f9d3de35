import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { removeTemporaryFolders } from "./daemon.ts";
import { post, startReceiving, TOKEN, type Received } from "./receivers.ts";

const authorization = `Splunk ${TOKEN}`;
let receiving: Received;
beforeAll(async () => {
  receiving = await startReceiving({
    streaming: {
      enabled: true,
      listen: "127.0.0.1:0",
      token: TOKEN,
      max_concurrent_requests: 2,
    },
  });
});
afterAll(() => receiving[Symbol.asyncDispose]());
afterAll(removeTemporaryFolders);

const record = (nodeId: string): string => `{"nodeId":"${nodeId}","virtualTraffic":null}`;

/** A connection that has sent the head and the first bytes of a body. */
async function begin(body: string, sent: number): Promise<Socket> {
  const socket = connect(receiving.port("stream"), "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const head = `POST /services/collector/event HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: ${body.length}\r\n\r\n`;
  await new Promise<void>((resolve) =>
    socket.write(head + body.slice(0, sent), () => {
      resolve();
    }),
  );
  return socket;
}

const whole = (nodeId: string): ReturnType<typeof post> =>
  post(receiving.port("stream"), { headers: { authorization }, body: record(nodeId) });

it("senders that vanish within a body count nothing and leave their places", async () => {
  for (let round = 0; round < 20; round += 1) {
    // The first record is complete, the second is not.
    const body = record(`gone-${round}`) + record("never");
    const socket = await begin(body, record(`gone-${round}`).length + 5);
    if (round % 2 === 0) socket.destroy();
    else socket.resetAndDestroy();
  }
  await vi.waitFor(async () => expect((await whole("here")).status).toBe(200), {
    timeout: 60_000,
    interval: 50,
  });
  await vi.waitFor(
    () =>
      expect([
        receiving.sum("vpn.stream.records", { type: "flow" }),
        receiving.sum("vpn.stream.inflight"),
      ]).toEqual([1, 0]),
    { timeout: 60_000 },
  );
});

it("a sender that is slow does not hold up others, and is served in the end", async () => {
  const body = record("slow");
  const slow = await begin(body, 0);
  // A byte at a time; the last ones come after all others were served.
  for (let sent = 0; sent < 20; sent += 1) {
    slow.write(body.slice(sent, sent + 1));
    expect((await whole(`quick-${sent}`)).status).toBe(200);
  }
  slow.write(body.slice(20));
  const [answer] = (await once(slow, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
  slow.destroy();
});
