import { describe, expect, it } from "vitest";
import { methodTable } from "../../gateway/methods.ts";
import {
  createRest,
  type Authorize,
  type Rest,
  type RestAnswer,
  type RestRequest,
} from "../../gateway/rest.ts";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import type { PlainRoute } from "../../src/kernel/service.ts";
import { dedupService, otherServices, plainRoute, twoChunks } from "./sample-services.ts";

interface House {
  readonly rest: Rest;
  readonly log: string[];
}

function house(
  overrides: Parameters<typeof dedupService>[0] = {},
  plain: PlainRoute[] = [],
  authorize: Authorize = () => undefined,
): House {
  const log: string[] = [];
  const table = methodTable([dedupService(overrides), ...otherServices()], plain);
  return {
    log,
    rest: createRest({
      table,
      authorize,
      clock: systemClock,
      log: createLog({
        level: "debug",
        format: "json",
        write: (line) => log.push(line),
        now: () => 0,
      }),
    }),
  };
}

function request(line: string, body = "", more: Partial<RestRequest> = {}): RestRequest {
  const [method = "GET", target = "/"] = line.split(" ");
  const [path = "/", search = ""] = target.split("?");
  return {
    method,
    path,
    search,
    headers: {},
    remote: { address: "192.0.2.7", port: 4711 },
    secured: false,
    signal: new AbortController().signal,
    requestId: "req-1",
    readBody: (limit) =>
      body.length > limit
        ? Promise.reject(new StewardError("too_large", `the body is above ${limit} bytes`))
        : Promise.resolve(Buffer.from(body)),
    ...more,
  };
}

const ask = (line: string, body?: string, more?: Partial<RestRequest>): Promise<RestAnswer> =>
  house().rest.handle(request(line, body, more));

function json(answer: RestAnswer): {
  data?: unknown;
  meta?: unknown;
  error?: { code: string; message: string; details?: { path: unknown[]; rule?: string }[] };
} {
  return JSON.parse(answer.body as string) as never;
}

describe("a success", () => {
  it("comes as data and meta with the method's status", async () => {
    const list = await ask("GET /api/v1/shelves/a%20b/samples?limit=7");
    expect(list).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
    });
    expect(json(list)).toMatchObject({
      data: [{ text: "a b", smallNumber: 7 }],
      meta: { total: 1 },
    });
    const created = await ask("POST /api/v1/samples", '{"name":"n","kind":"plain"}');
    expect([created.status, created.body]).toEqual([202, '{"data":{"partName":"n","inner":null}}']);
  });

  it("leaves meta out where the method has none to give", async () => {
    expect(Object.keys(json(await ask("GET /api/v1/samples/5")))).toEqual(["data"]);
  });

  it("binds path, query and body together, and ignores unknown fields where the method says so", async () => {
    expect(
      (await ask("PUT /api/v1/samples/5?dryRun=true", '{"text":"t","more":1}')).body,
    ).toContain('"5 t true"');
  });

  it("is a download without envelope where the method says so", async () => {
    expect(await ask("GET /api/v1/export/sample.json")).toMatchObject({
      body: '{\n  "version": "1.0"\n}',
      headers: { "content-disposition": 'attachment; filename="sample.json"' },
    });
  });

  it("comes in each surface's own form", async () => {
    expect((await ask("GET /api/sample.json")).body).toMatch(
      /^\{\n {2}"schema_version": 1,[^]*\n\}\n$/,
    );
    expect((await ask("POST /api/sample/purge")).body).toBe('{"purged":3,"enabled":true}');
    expect((await ask("GET /v1/sample/x")).body).toMatch(
      /^\{"request_id":"req-1","lease_id":"","renewable":false,"lease_duration":0,"data":\{"app_name":"x",.*\},"wrap_info":null,"warnings":null,"auth":null\}\n$/,
    );
    expect((await ask("GET /v1/sys/sample-health")).body).toBe(
      '{"initialized":true,"sealed":false}\n',
    );
    expect(await ask("DELETE /v1/sample/x")).toMatchObject({ status: 204, body: "" });
  });

  it("has no body for HEAD, but the length of GET's", async () => {
    const get = await ask("GET /api/v1/samples/5");
    expect(await ask("HEAD /api/v1/samples/5")).toEqual({
      ...get,
      body: "",
      headers: { ...get.headers, "content-length": String((get.body as string).length) },
    });
  });

  it.each([
    {},
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "text/plain" },
    { "content-encoding": "identity" },
  ])("reads JSON sent with %o", async (headers) => {
    expect(
      (await ask("POST /api/v1/samples", '{"name":"n","kind":"plain"}', { headers })).status,
    ).toBe(202);
  });
});

describe("bad input", () => {
  const cases: [string, string, string, string, string][] = [
    [
      "GET /api/v1/shelves/a/samples?limit=101",
      "",
      "VALIDATION_FAILED",
      "limit",
      "limit must be between 1 and 100",
    ],
    [
      "GET /api/v1/shelves/a/samples?limit=x&offset=y",
      "",
      "VALIDATION_FAILED",
      "limit",
      "limit must be a whole number, not text; offset must be a whole number, not text",
    ],
    [
      "GET /api/v1/samples/abc",
      "",
      "BAD_REQUEST",
      "number",
      "number must be a whole number, not text",
    ],
    [
      "GET /api/v1/samples/%zz",
      "",
      "BAD_REQUEST",
      "",
      "the path must begin with a slash and contain only percent-encoded UTF-8; write %25 for a percent sign",
    ],
    [
      "POST /api/v1/samples",
      "{",
      "VALIDATION_FAILED",
      "",
      "the body is not valid JSON (at character 1)",
    ],
    [
      "POST /api/v1/samples",
      '{"nmae":"x"}',
      "VALIDATION_FAILED",
      "nmae",
      "nmae is not a known field; did you mean name?",
    ],
    [
      "POST /api/v1/samples",
      "",
      "VALIDATION_FAILED",
      "name",
      "name must be given and not empty; kind must be one of plain, large_scan, Other-Kind",
    ],
  ];
  it.each(cases)("%s %s", async (line, body, code, path, message) => {
    const answer = await ask(line, body);
    expect(answer.status).toBe(400);
    expect(json(answer).error).toMatchObject({ code, message });
    expect(json(answer).error?.details?.[0]?.path.join(".") ?? "").toBe(path);
  });

  it("is a body above the method's limit, or a packed one", async () => {
    expect(json(await ask("POST /api/v1/samples", "x".repeat(2049))).error?.code).toBe(
      "PAYLOAD_TOO_LARGE",
    );
    expect(
      json(await ask("POST /api/v1/samples", "x", { headers: { "content-encoding": "gzip" } }))
        .error,
    ).toEqual({
      code: "VALIDATION_FAILED",
      message: "a body with Content-Encoding is not accepted; send it uncompressed",
      details: [
        {
          path: [],
          message: "a body with Content-Encoding is not accepted; send it uncompressed",
          code: "invalid_value",
          rule: "content_encoding",
        },
      ],
    });
  });

  it("is answered in the style of the path's prefix when nothing serves it", async () => {
    expect([
      (await ask("GET /api/v1/nowhere")).body,
      (await ask("GET /nowhere")).body,
      (await ask("GET /v1/nowhere")).body,
    ]).toEqual([
      '{"error":{"code":"NOT_FOUND","message":"there is no such path"}}',
      "404 page not found\n",
      '{"errors":["no handler for route \\"nowhere\\""]}\n',
    ]);
    expect(await ask("PATCH /api/v1/samples/1")).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, PUT" },
    });
  });
});

describe("access", () => {
  it("is asked for with the route's class and surface, before anything is read", async () => {
    const asked: unknown[] = [];
    const { rest } = house({}, [], (access, dialect) => {
      asked.push([access, dialect]);
      return new StewardError("unauthenticated", "a token is needed; send it as Bearer");
    });
    const answer = await rest.handle(
      request("POST /api/v1/samples", "{", {
        readBody: () => Promise.reject(new Error("was read")),
      }),
    );
    expect(answer).toMatchObject({
      status: 401,
      headers: {
        "www-authenticate": expect.arrayContaining(['Basic realm="steward"']) as string[],
      },
    });
    expect((await rest.handle(request("GET /api/sample.json"))).body).toBe("Unauthorized\n");
    expect(asked).toEqual([
      [Access.OPERATOR, "dedup"],
      [Access.ADMIN, "monitor"],
    ]);
  });
});

describe("what a handler throws", () => {
  it("is answered by its code when it is an error of the house", async () => {
    const { rest, log } = house({
      getSample: () => {
        throw new StewardError("not_found", "there is no sample 5");
      },
    });
    const answer = await rest.handle(request("GET /api/v1/samples/5"));
    expect([answer.status, json(answer).error]).toEqual([
      404,
      { code: "NOT_FOUND", message: "there is no sample 5" },
    ]);
    expect(log).toEqual([]);
  });

  it.each([
    new TypeError("secret"),
    Object.assign(new Error("secret"), { code: "ENOENT" }),
    "secret",
    new StewardError("internal", "secret"),
  ])("is hidden and logged when it is %s", async (thrown) => {
    const { rest, log } = house({
      getSample: () => {
        throw thrown;
      },
    });
    const answer = await rest.handle(request("GET /api/v1/samples/5"));
    expect(answer.status).toBe(500);
    expect(answer.body).toBe(
      '{"error":{"code":"INTERNAL_ERROR","message":"internal error; see the log for request req-1"}}',
    );
    expect(log.join("")).toMatch(
      /secret.*"request_id":"req-1","route":"GET \/api\/v1\/samples\/\{number\}"/,
    );
  });

  it("is an internal error when the answer cannot be written", async () => {
    const { rest, log } = house({ getSample: () => ({ data: { ratio: Number.NaN } }) });
    expect((await rest.handle(request("GET /api/v1/samples/5"))).status).toBe(500);
    expect(log.join("")).toContain("DedupSample.ratio is NaN");
  });
});

describe("a plain route", () => {
  async function collect(body: RestAnswer["body"]): Promise<string> {
    let text = "";
    for await (const chunk of body as AsyncIterable<string>) text += chunk;
    return text;
  }

  it("gets path, query and call, and its answer goes out as it is", async () => {
    const route = plainRoute("/api/v1/echo/{id}", (sent, call) =>
      Promise.resolve({
        status: 207,
        headers: { "content-type": "text/csv" },
        body: `${sent.method} ${sent.path} ${sent.params["id"]} ${sent.query.get("q")} ${call.requestId}`,
      }),
    );
    expect(await house({}, [route]).rest.handle(request("GET /api/v1/echo/a%2Fb?q=1"))).toEqual({
      status: 207,
      headers: { "content-type": "text/csv" },
      body: "GET /api/v1/echo/a%2Fb a/b 1 req-1",
    });
  });

  it("streams, and leaves a break in the log", async () => {
    const good = plainRoute("/good", (_, call) =>
      Promise.resolve({ status: 200, headers: {}, body: twoChunks(call) }),
    );
    const bad = plainRoute("/bad", (_, call) =>
      Promise.resolve({ status: 200, headers: {}, body: twoChunks(call, true) }),
    );
    const { rest, log } = house({}, [good, bad]);
    expect(await collect((await rest.handle(request("GET /good"))).body)).toBe("onetwo");
    expect((await rest.handle(request("HEAD /good"))).body).toBe("");
    await expect(collect((await rest.handle(request("GET /bad"))).body)).rejects.toThrow(
      "secret cause",
    );
    expect(log.join("")).toMatch(/"route":"GET \/bad","msg":"a stream was interrupted"/);
  });

  it("fails in its own surface's form", async () => {
    const route = plainRoute(
      "/page",
      () => Promise.reject(new StewardError("not_found", "the store is off")),
      { dialect: "monitor" },
    );
    expect((await house({}, [route]).rest.handle(request("GET /page"))).body).toBe(
      "the store is off\n",
    );
  });
});
