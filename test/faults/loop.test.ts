/**
 * No request holds the main thread's event loop for more than 50 ms, whatever it brings within the
 * size limits. What each is answered with stands in loop-answers.json, so that one that is refused
 * before it costs anything is seen: the long run with `STEWARD_TEST_GOLDEN=1` writes the file anew,
 * and what changed in it is then to be read.
 */
import { once } from "node:events";
import { request } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { text } from "node:stream/consumers";
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
const MAX_REASON = 200;
/** What was broken once, and one of each kind; all of them in the long run. */
const USUAL = new RegExp(
  [
    "^(REST|Connect in JSON|Vault, unwrap with a token), (300,000 unknown names|99,000 long names|a list of lists|one long string of escaped quotes|one long number|white space|lists without an end)$",
    "^Vault, (unwrap without a token, 99,000 unknown names|wrap, (one long string|99,000 long numbers)|.* between commas|99,000 repository ids.*|capabilities of 99,000 paths|a form of .*|a policy in base64|a text to hash|.*9,900 (long|fitting) .*|9,900 allowed policies of a role)$",
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

/** Answers by the names of their requests. */
const answersPath = join(import.meta.dirname, "loop-answers.json");
const answers = JSON.parse(readFileSync(answersPath, "utf8")) as Record<string, string>;
const found: Record<string, string> = {};

afterAll(async () => {
  if (isLongRun && process.env["STEWARD_TEST_GOLDEN"] === "1")
    writeFileSync(answersPath, `${JSON.stringify(found, null, 2)}\n`);
  await measured.stop();
  removeTemporaryFolders();
});

/** Sends a request. Resolves with its answer as `shown` writes it, or "cut" without a whole one. */
function send({ method, path, headers, token, body }: NastyRequest): Promise<string> {
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
        void text(answer).then(
          (said) => resolve(shown(answer.statusCode, said)),
          () => resolve("cut"),
        ),
    );
    sent.on("error", () => resolve("cut")).end(body);
  });
}

/**
 * As `send`; asks again after a cut: a client that is still sending may lose the answer that it was
 * given.
 */
async function answerOf(nasty: NastyRequest): Promise<string> {
  let answer = await send(nasty);
  for (let more = 0; answer === "cut" && more < ROUNDS; more += 1) answer = await send(nasty);
  return answer;
}

/** The status and, of a refusal, its reason. */
function shown(status: number | undefined, said: string): string {
  const inJson = /"(?:message|errors)":\[?("(?:[^"\\]|\\.)*")/.exec(said)?.[1];
  const inTrailer = /grpc-message: (.*)/.exec(said)?.[1] ?? "";
  const reason = inJson === undefined ? decodeURIComponent(inTrailer) : JSON.parse(inJson);
  return `${status} ${String(reason).slice(0, MAX_REASON)}`.trim();
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

  it.each(rows)("%s", async (name, make) => {
    const nasty = make();
    const turnMs = await longestTurn(async () => void (found[name] = await answerOf(nasty)));
    expect(turnMs).toBeLessThanOrEqual(MAX_TURN_MS);
    if (process.env["STEWARD_TEST_GOLDEN"] !== "1") expect(found[name]).toBe(answers[name]);
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
        Array.from({ length: clients.open }, () =>
          answerOf(nasty).finally(() => (clients.open -= 1)),
        ),
      );
      for (; clients.open > 0; answered++)
        expect((await rest(measured.vault.daemon, "GET", "/healthz")).status).toBe(200);
      expect(new Set(await sent)).toEqual(new Set([answers["Vault, wrap, one long string"]]));
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
