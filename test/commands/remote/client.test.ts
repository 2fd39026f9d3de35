import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { connectDaemon, type DaemonClient } from "../../../src/commands/remote/client.ts";
import { createManualClock, type ManualClock } from "../../kernel/supervisor/manual-clock.ts";

const PIECE_EVERY_MS = 15_000;

interface Followed {
  readonly clock: ManualClock;
  readonly response: ServerResponse;
  readonly pieces: AsyncIterator<Uint8Array>;
}

/** A stream of a daemon that has sent its headers. */
async function follow(): Promise<Followed> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const clock = createManualClock();
  const daemon: DaemonClient = connectDaemon(
    {
      base: new URL(`http://127.0.0.1:${port}`),
      socketPath: undefined,
      token: undefined,
      ca: undefined,
    },
    { clock },
  );
  onTestFinished(async () => {
    await daemon.close();
    server.closeAllConnections();
    server.close();
  });
  const asked = once(server, "request") as Promise<[unknown, ServerResponse]>;
  const opened = daemon.stream({ path: "/api/v1/jobs/j/progress" }, new AbortController().signal);
  const [, response] = await asked;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  const { body } = await opened;
  return { clock, response, pieces: body[Symbol.asyncIterator]() };
}

it("a stream goes on for as long as pieces of it arrive", async () => {
  const { clock, response, pieces } = await follow();
  for (let passedMs = 0; passedMs < 600_000; passedMs += PIECE_EVERY_MS) {
    const next = pieces.next();
    await clock.advance(PIECE_EVERY_MS);
    response.write(": keep-alive\n\n");
    expect(await next).toMatchObject({ done: false });
  }
  response.end();
  expect(await pieces.next()).toMatchObject({ done: true });
});

it("a stream without a piece for two minutes is given up", async () => {
  const { clock, response, pieces } = await follow();
  response.write(": keep-alive\n\n");
  await pieces.next();
  const next = expect(pieces.next()).rejects.toThrow("120000 ms have passed");
  await clock.advance(121_000);
  await next;
});
