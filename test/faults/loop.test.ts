/**
 * No request holds the main thread's event loop for more than 50 ms, whatever it brings within the
 * size limits.
 */
import { once } from "node:events";
import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTemporaryFolders, rest } from "../contract/daemon.ts";
import { type MeasuredDaemon, startMeasured } from "./loop-daemon.ts";
import { type NastyRequest, nastyRequests, repeated } from "./loop-requests.ts";
import { slowness } from "../support/machine-speed.ts";
import { isLongRun } from "../support/long-run.ts";

/** CPU milliseconds of one turn of the event loop. */
const MAX_TURN_MS = 50 * slowness();
/** A garbage collection may fall into any turn, so the best of some rounds counts. */
const ROUNDS = 6;
/** What was broken once, and one of each kind; all of them in the long run. */
const USUAL = new RegExp(
  [
    "^(REST|Connect in JSON|Vault, unwrap with a token), (300,000 unknown names|99,000 long names|a list of lists|one long string of escaped quotes|one long number|white space|lists without an end)$",
    "^Vault, (unwrap without a token, 99,000 unknown names|wrap, (one long string|99,000 long numbers)|.* between commas|99,000 repository ids.*|capabilities of 99,000 paths|a form of .*|a policy in base64|a text to hash)$",
    "^(Connect|gRPC-Web) in protobuf, ",
    "^gRPC-Web, ",
    "^Connect, ",
    "^Headers, ",
  ].join("|"),
);

let measured: MeasuredDaemon;

beforeAll(async () => {
  measured = await startMeasured();
});

afterAll(async () => {
  await measured.vault.daemon.stop();
  removeTemporaryFolders();
});

/** Sends a request and reads its answer to the end; the status, or 0 when the daemon cut it. */
function send({ method, path, headers, token, body }: NastyRequest): Promise<number> {
  const { vault } = measured;
  return new Promise((resolve) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: new URL(vault.daemon.url).port,
        method,
        path,
        agent: false,
        headers: {
          ...headers,
          ...(method === "GET" ? {} : { "content-length": body.length }),
          ...(token ? { "x-vault-token": vault.root } : {}),
        },
      },
      (answer) =>
        void answer
          .resume()
          .on("end", () => resolve(answer.statusCode ?? 0))
          .on("error", () => resolve(0)),
    );
    sent.on("error", () => resolve(0)).end(body);
  });
}

/** The longest turn while something is done, in the best of some rounds. */
async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && leastMs > MAX_TURN_MS; round++) {
    await measured.read();
    await run();
    leastMs = Math.min(leastMs, (await measured.read()).turnMs);
  }
  return leastMs;
}

describe("the event loop is not held by", () => {
  const rows = Object.entries(nastyRequests()).filter(([name]) => isLongRun || USUAL.test(name));

  it.each(rows)("%s", async (_name, make) => {
    const nasty = make();
    expect(await longestTurn(() => send(nasty))).toBeLessThanOrEqual(MAX_TURN_MS);
  });

  it("a stream of hundreds of thousands of empty messages", async () => {
    const session = connectHttp2(measured.vault.daemon.url);
    session.on("error", () => undefined);
    const turnMs = await longestTurn(async () => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "content-type": "application/grpc",
        te: "trailers",
      });
      stream.on("error", () => undefined).resume();
      stream.end(repeated([0, 0, 0, 0, 0], 1024 * 1024));
      await once(stream, "close");
    });
    session.destroy();
    expect(turnMs).toBeLessThanOrEqual(MAX_TURN_MS);
  });

  it("several such requests at once: others are answered in between", async () => {
    const nasty = nastyRequests()["Vault, wrap, one long string"]?.();
    if (nasty === undefined) throw new Error("the table has lost a row");
    let answered = 0;
    const turnMs = await longestTurn(async () => {
      const clients = { open: 4 };
      const sent = Promise.all(
        Array.from({ length: clients.open }, () => send(nasty).finally(() => (clients.open -= 1))),
      );
      for (; clients.open > 0; answered++)
        expect((await rest(measured.vault.daemon, "GET", "/healthz")).status).toBe(200);
      expect(await sent).toEqual([413, 413, 413, 413]);
    });
    expect(answered).toBeGreaterThan(0);
    // How many are answered depends on how fast this process asks; how long one waits, on the turns. One
    // turn has a slice of each request.
    expect(turnMs).toBeLessThanOrEqual(2 * MAX_TURN_MS);
  });
});

describe("the meter", () => {
  it("sees a turn that is too long", async () => {
    await measured.read();
    measured.block(120);
    await expect
      .poll(async () => (await measured.read()).turnMs, { interval: 20 })
      .toBeGreaterThan(MAX_TURN_MS);
  });
});
