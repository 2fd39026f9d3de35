/** Each misbehaviour on a real connection. */
import { createHash } from "node:crypto";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createFaults, type Fault } from "../../../src/demo/control-plane/faults.ts";
import { ask, benchTailscale, type Answer, type TailscaleBench } from "./support.ts";

const USERS = "/tailnet/-/users";

async function answerTo(fault: Fault): Promise<readonly [bench: TailscaleBench, answer: Answer]> {
  const bench = await benchTailscale();
  bench.sim.faults.next("users", fault);
  return [bench, await bench.get(USERS)];
}

/** The head of the answer, before its body has come. */
function headOf(
  { sim }: TailscaleBench,
  path: string,
): Promise<readonly [request: ClientRequest, response: IncomingMessage]> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${sim.url}/api/v2${path}`,
      { agent: false, headers: { authorization: `Bearer ${sim.credentials.apiKey}` } },
      (response) => resolve([outgoing, response]),
    );
    outgoing.once("error", reject).end();
  });
}

describe("answers instead of the true one", () => {
  it.each<readonly [Fault, object]>([
    [
      { kind: "status", status: 503, message: "down", headers: { "x-a": "1" } },
      { status: 503, json: { message: "down" }, headers: { "x-a": "1" } },
    ],
    [
      { kind: "limited", retryAfterS: 7 },
      { status: 429, headers: { "retry-after": "7" } },
    ],
    [
      { kind: "limited", retryAfterS: 30, as: "date" },
      { status: 429, headers: { "retry-after": "Sat, 21 Nov 2026 10:21:00 GMT" } },
    ],
    [{ kind: "html" }, { status: 502, headers: { "content-type": "text/html; charset=utf-8" } }],
    [
      { kind: "html", status: 200 },
      { status: 200, json: undefined },
    ],
    [
      { kind: "redirect", location: "http://127.0.0.2/steal" },
      { status: 307, headers: { location: "http://127.0.0.2/steal" } },
    ],
    [{ kind: "empty" }, { status: 200, text: "" }],
    [{ kind: "garbage" }, { status: 200, json: undefined }],
  ])("%j", async (fault, expected) => {
    const [{ get }, answer] = await answerTo(fault);
    expect(answer).toMatchObject(expected);
    expect((await get(USERS)).json.users.length).toBeGreaterThan(5);
  });

  it("may nest deeply", async () => {
    const [, { text }] = await answerTo({ kind: "deep", levels: 10_000 });
    expect([text.length, text.slice(0, 3), text.slice(-3)]).toEqual([20_000, "[[[", "]]]"]);
  });
});

describe("true answers that are spoilt", () => {
  it("have other types, other words, or members missing", async () => {
    const { sim, get } = await benchTailscale();
    const user = async (fault: Fault): Promise<Record<string, unknown>> => {
      sim.faults.next("users", fault);
      return (await get(USERS)).json.users[0] as Record<string, unknown>;
    };
    expect(typeof (await user({ kind: "numbers_as_strings" }))["deviceCount"]).toBe("string");
    expect(await user({ kind: "wrong_types" })).toMatchObject({
      id: 17,
      deviceCount: true,
      currentlyConnected: "yes",
    });
    expect(await user({ kind: "missing_fields", names: ["id", "role"] })).not.toHaveProperty(
      "role",
    );
    expect(await user({ kind: "unknown_enums" })).toMatchObject({
      role: "SOMETHING_NEW",
      status: "SOMETHING_NEW",
      loginName: "ada@corp.test",
    });
    expect(await user({ kind: "change", change: () => ({ users: [{ id: 1 }] }) })).toEqual({
      id: 1,
    });
  });

  it("are left as they are when they are refusals", async () => {
    const { sim, get } = await benchTailscale();
    sim.faults.next("users", { kind: "wrong_types" });
    expect(await get("/tailnet/other/users")).toMatchObject({
      status: 404,
      json: { message: "tailnet not found" },
    });
  });
});

describe("connections that go wrong", () => {
  it("are reset, or end before the answer does", async () => {
    const { sim, get } = await benchTailscale();
    sim.faults.next("users", { kind: "reset" });
    await expect(get(USERS)).rejects.toMatchObject({ code: "ECONNRESET" });
    sim.faults.next("users", { kind: "truncate" });
    await expect(get(USERS)).rejects.toThrow();
  });

  it("say nothing until the client leaves", async () => {
    const bench = await benchTailscale();
    bench.sim.faults.next("users", { kind: "hang" });
    const left = new AbortController();
    const outgoing = request(`${bench.sim.url}/api/v2${USERS}`, {
      agent: false,
      signal: left.signal,
    });
    const ended = new Promise((resolve) => outgoing.once("error", resolve));
    outgoing.end();
    while (bench.sim.seen().length === 0) await bench.get("/tailnet/-/settings");
    left.abort();
    await expect(ended).resolves.toMatchObject({ name: "AbortError" });
  });

  it("stall in the middle of the body", async () => {
    const bench = await benchTailscale();
    bench.sim.faults.next("users", { kind: "stall", bytes: 10 });
    const [outgoing, response] = await headOf(bench, USERS);
    const [first] = await new Promise<[Buffer]>((resolve) =>
      response.once("data", (piece: Buffer) => resolve([piece])),
    );
    expect([
      response.statusCode,
      first.length,
      Number(response.headers["content-length"]) > 10,
    ]).toEqual([200, 10, true]);
    response.once("error", () => undefined);
    outgoing.destroy();
  });

  it("answer late, in full", async () => {
    const { sim, get } = await benchTailscale();
    for (const fault of [
      { kind: "delay", ms: 20 },
      { kind: "stall", ms: 20 },
      { kind: "drip", intervalMs: 1, bytes: 500 },
    ] as const) {
      sim.faults.next("users", fault);
      expect((await get(USERS)).json.users.length).toBeGreaterThan(5);
    }
    sim.latencyMs = 20;
    expect((await get(USERS)).status).toBe(200);
  });
});

describe("sizes", () => {
  it("of an answer may be a hundred megabytes, with a length or without", async () => {
    const { sim } = await benchTailscale();
    for (const chunked of [false, true]) {
      sim.faults.next("users", { kind: "oversize", bytes: 100_000_000, chunked });
      const [, response] = await headOf({ sim } as TailscaleBench, USERS);
      let size = 0;
      for await (const piece of response as AsyncIterable<Buffer>) size += piece.length;
      expect([size, response.headers["content-length"]]).toEqual([
        100_000_000,
        chunked ? undefined : "100000000",
      ]);
    }
  });

  it("of what is compressed may be another than what comes out, or break off", async () => {
    const { sim, get } = await benchTailscale();
    sim.faults.next("users", { kind: "gzip_bomb", bytes: 10_000_000 });
    const bomb = await get(USERS);
    expect([bomb.raw.length < 100_000, gunzipSync(bomb.raw).length > 10_000_000]).toEqual([
      true,
      true,
    ]);
    sim.faults.next("users", { kind: "truncated_gzip" });
    const broken = await get(USERS);
    expect(Number(broken.headers["content-length"])).toBe(broken.raw.length);
    expect(() => gunzipSync(broken.raw)).toThrow();
  });

  it("of a request are bounded", async () => {
    const { sim } = await benchTailscale();
    expect(
      (
        await ask(`${sim.url}/api/v2/tailnet/-/acl/validate`, {
          method: "POST",
          body: "x".repeat(5_000_000),
        })
      ).status,
    ).toBe(413);
  });
});

describe("the queues", () => {
  it("are used up in order, an operation's own before those of any", () => {
    const faults = createFaults<"a" | "b">();
    faults.next("*", { kind: "empty" });
    faults.next("a", { kind: "reset" }, 2);
    faults.next("a", { kind: "hang" });
    expect(faults.pending()).toBe(4);
    expect(
      [
        faults.take("a"),
        faults.take("a"),
        faults.take("a"),
        faults.take("b"),
        faults.take("b"),
      ].map((fault) => fault?.kind),
    ).toEqual(["reset", "reset", "hang", "empty", undefined]);
    faults.next("b", { kind: "hang" }, Infinity);
    expect([
      faults.take("b")?.kind,
      faults.take("b")?.kind,
      faults.pending("b"),
      faults.pending("a"),
    ]).toEqual(["hang", "hang", Infinity, 0]);
    faults.clear("b");
    expect(faults.take("b")).toBeUndefined();
  });
});

describe("etags", () => {
  it("are those of the policy's text", async () => {
    const { get } = await benchTailscale();
    const { headers, raw } = await get("/tailnet/-/acl");
    expect(headers.etag).toBe(`"${createHash("sha256").update(raw).digest("hex")}"`);
  });
});
