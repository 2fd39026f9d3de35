/**
 * The monitor's documents over every protocol, and the answers of its surface to what it does not
 * serve.
 */
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:http2";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createGateway, type GatewayDeps } from "../../../gateway/gateway.ts";
import { ConfigSummarySchema } from "../../../src/gen/steward/monitor/v1/config_summary_pb.ts";
import { CardinalityInfoSchema } from "../../../src/gen/steward/monitor/v1/cardinality_pb.ts";
import { Health, StatusSchema } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import {
  bindService,
  type BoundService,
  type Handlers,
  type PlainRoute,
  type UnaryHandler,
} from "../../../src/kernel/service.ts";
import { writeRestJson } from "../../../src/kernel/wire/rest-json.ts";
import { schemaVersion } from "../../../src/kernel/wire/style.ts";
import { connectCall, grpcClient, startGateway, systemService } from "../start-gateway.ts";
import { filled } from "./documents.ts";

const documents = ["/api/status.json", "/api/config.json", "/api/cardinality.json"] as const;
const status: MessageInitShape<typeof StatusSchema> = {
  schemaVersion: schemaVersion(StatusSchema),
  health: Health.DEGRADED,
};
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function statusService(
  overrides: Partial<Handlers<typeof StatusService.method>> = {},
): BoundService {
  return bindService(StatusService, {
    getStatus: () => ({ status }),
    getConfigSummary: () => ({
      config: filled(ConfigSummarySchema) as MessageInitShape<typeof ConfigSummarySchema>,
    }),
    getCardinality: () => ({
      cardinality: filled(CardinalityInfoSchema) as MessageInitShape<typeof CardinalityInfoSchema>,
    }),
    async *watchStatus() {
      yield { status };
      yield { status: { ...status, health: Health.HEALTHY } };
    },
    ...overrides,
  });
}

/** As a thread hands them out. */
function inPieces(bytes: Uint8Array, most: number): Uint8Array<SharedArrayBuffer>[] {
  return Array.from({ length: Math.ceil(bytes.length / most) }, (_, at) => {
    const part = bytes.subarray(at * most, (at + 1) * most);
    const piece = new Uint8Array(new SharedArrayBuffer(part.length));
    piece.set(part);
    return piece;
  });
}

interface Seen {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

async function ask(
  url: string,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Seen> {
  const request = httpRequest(`${url}${path}`, { method, headers });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

describe("a document", () => {
  it.each(documents)(
    "%s is bare JSON that people can read, with its version first",
    async (path) => {
      const { url } = await startGateway({ services: [statusService()] });
      const answer = await ask(url, "GET", path);
      expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/json"]);
      expect(answer.body).toMatch(/^\{\n {2}"schema_version": \d+,\n {2}"/);
      expect(answer.body.endsWith("\n}\n")).toBe(true);
      const head = await ask(url, "HEAD", path);
      expect([head.status, head.body, head.headers["content-length"]]).toEqual([
        200,
        "",
        String(Buffer.byteLength(answer.body)),
      ]);
    },
  );

  it.each(documents)(
    "%s is the same when the service has written it where it runs",
    async (path) => {
      const service = statusService();
      const written: BoundService = {
        ...service,
        json: (method) => async (request, call) =>
          Buffer.from(
            writeRestJson(
              method,
              create(
                method.output,
                await (service.handler(method) as UnaryHandler<DescMessage, DescMessage>)(
                  request,
                  call,
                ),
              ),
            ),
          ),
      };
      const [here, there] = [
        await startGateway({ services: [service] }),
        await startGateway({ services: [written] }),
      ];
      const answer = await ask(there.url, "GET", path);
      expect(answer.body).toBe((await ask(here.url, "GET", path)).body);
      expect(answer.headers["vary"], "another client may get it packed").toBe("accept-encoding");
    },
  );

  it("comes as it was packed where it was written, and says so", async () => {
    const packed = gzipSync('{"schema_version":1}\n');
    const { url } = await startGateway({
      services: [
        {
          ...statusService(),
          json: () => () => Promise.resolve({ encoding: "gzip", pieces: inPieces(packed, 7) }),
        },
      ],
    });
    const answer = await fetch(`${url}/api/status.json`);
    expect([
      answer.headers.get("content-encoding"),
      answer.headers.get("vary"),
      answer.headers.get("content-type"),
    ]).toEqual(["gzip", "accept-encoding", "application/json"]);
    expect(await answer.text()).toBe('{"schema_version":1}\n');
    expect((await ask(url, "HEAD", "/api/status.json")).headers["content-length"]).toBe(
      String(packed.length),
    );
  });

  it("is whole when it comes in pieces, over HTTP/1.1 and HTTP/2, however long it is", async () => {
    const long = Buffer.from(`{"schema_version":1,"text":"${"ä".repeat(2_000_000)}"}\n`);
    const { url } = await startGateway({
      services: [
        {
          ...statusService(),
          json: () => () =>
            Promise.resolve({ encoding: undefined, pieces: inPieces(long, 300_000) }),
        },
      ],
    });
    const answer = await fetch(`${url}/api/status.json`);
    expect([
      answer.headers.get("content-length"),
      answer.headers.get("content-encoding"),
      answer.headers.get("vary"),
    ]).toEqual([String(long.length), null, "accept-encoding"]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(long)).toBe(true);
    expect((await ask(url, "HEAD", "/api/status.json")).headers["content-length"]).toBe(
      String(long.length),
    );
    const session = connect(url);
    const got = await new Promise<Buffer[]>((resolve, reject) => {
      const chunks: Buffer[] = [];
      session
        .request({ ":path": "/api/status.json" })
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .once("end", () => resolve(chunks))
        .once("error", reject)
        .end();
    });
    session.close();
    expect(Buffer.concat(got).equals(long)).toBe(true);
  });

  it("of the configuration is a download", async () => {
    const { url } = await startGateway({ services: [statusService()] });
    expect((await ask(url, "GET", "/api/config.json")).headers["content-disposition"]).toBe(
      'attachment; filename="steward-config.json"',
    );
    expect(
      (await ask(url, "GET", "/api/status.json")).headers["content-disposition"],
    ).toBeUndefined();
  });

  it("ignores what is asked for in a query", async () => {
    const { url } = await startGateway({ services: [statusService()] });
    expect((await ask(url, "GET", "/api/status.json?limit=x&network=%00")).status).toBe(200);
  });

  it("is inside a message over Connect and gRPC, and is watched there", async () => {
    const { url, host } = await startGateway({ services: [statusService()] });
    expect(
      await connectCall(url, "/steward.monitor.v1.StatusService/GetStatus", "{}"),
    ).toMatchObject({
      status: 200,
      json: { status: { schemaVersion: 1, health: "HEALTH_DEGRADED" } },
    });
    const client = grpcClient(host);
    expect((await client.unary(StatusService.method.getStatus, {})).status?.health).toBe(
      Health.DEGRADED,
    );
    const seen: unknown[] = [];
    for await (const message of client.stream(StatusService.method.watchStatus, {}))
      seen.push((message as { status?: { health: Health } }).status?.health);
    expect(seen).toEqual([Health.DEGRADED, Health.HEALTHY]);
  });

  it("is not where no service serves it", async () => {
    const { url } = await startGateway();
    for (const path of documents)
      expect(await ask(url, "GET", path)).toMatchObject({
        status: 404,
        body: "404 page not found\n",
      });
  });
});

describe("an error of the surface", () => {
  const token = Secret.of("operator-word", "test");
  const adminToken = Secret.of("admin-word", "test");

  it.each([
    ["an unknown path", "GET", "/api/nothing.json", {}, 404, "404 page not found\n"],
    ["a path with a slash too many", "GET", "/api/status.json/", {}, 404, "404 page not found\n"],
    ["a method that changes things", "POST", "/api/status.json", {}, 405, "Method Not Allowed\n"],
    ["an uncommon method", "OPTIONS", "/api/status.json", {}, 405, "Method Not Allowed\n"],
    [
      "a path that is no text",
      "GET",
      "/api/%ff",
      {},
      400,
      "the path must begin with a slash and contain only percent-encoded UTF-8; write %25 for a percent sign\n",
    ],
  ])("is one line of text: %s", async (_what, method, path, headers, code, body) => {
    const { url } = await startGateway({ services: [statusService()] });
    const answer = await ask(url, method, path, headers);
    expect([
      answer.status,
      answer.body,
      answer.headers["content-type"],
      answer.headers["x-content-type-options"],
    ]).toEqual([code, body, "text/plain; charset=utf-8", "nosniff"]);
    expect(answer.headers.allow).toBe(code === 405 ? "GET, HEAD" : undefined);
  });

  it("tells of what a handler says, and hides what went wrong inside", async () => {
    for (const [error, code, body] of [
      [
        new StewardError("not_ready", "the monitor is starting"),
        503,
        /^the monitor is starting\n$/,
      ],
      [new StewardError("exhausted", "too many at a time"), 503, /^too many at a time\n$/],
      [
        new Error("password=hunter2"),
        500,
        /^internal error; see the log for request [0-9a-f-]+\n$/,
      ],
    ] as const) {
      const { url } = await startGateway({
        services: [statusService({ getStatus: () => Promise.reject(error) })],
      });
      const answer = await ask(url, "GET", "/api/status.json");
      expect([
        answer.status,
        answer.headers["content-type"],
        answer.headers["retry-after"],
      ]).toEqual([
        code,
        "text/plain; charset=utf-8",
        error instanceof StewardError && error.code === "exhausted" ? "1" : undefined,
      ]);
      expect(answer.body).toMatch(body);
    }
  });

  it("asks for the administrator's token, takes no other, and is counted by its reason", async () => {
    const reasons: string[] = [];
    const { url } = await startGateway({
      services: [statusService()],
      auth: { token, adminToken, allowedHosts: [] },
      adminRefused: (reason) => reasons.push(reason),
    });
    const basic = (password: string): OutgoingHttpHeaders => ({
      authorization: `Basic ${Buffer.from(`anybody:${password}`).toString("base64")}`,
    });
    for (const headers of [
      {},
      { authorization: "Bearer operator-word" },
      { authorization: "Bearer" },
      basic("operator-word"),
    ] as OutgoingHttpHeaders[]) {
      const answer = await ask(url, "GET", "/api/status.json", headers);
      expect([answer.status, answer.body, answer.headers["www-authenticate"]]).toEqual([
        401,
        "Unauthorized\n",
        'Basic realm="steward admin"',
      ]);
    }
    expect(reasons).toEqual([
      "missing_credentials",
      "bad_credentials",
      "bad_credentials",
      "bad_credentials",
    ]);
    for (const headers of [{ authorization: "bearer admin-word" }, basic("admin-word")])
      expect((await ask(url, "GET", "/api/status.json", headers)).status).toBe(200);
    expect(
      (
        await connectCall(url, "/steward.monitor.v1.StatusService/GetStatus", "{}", {
          authorization: "Bearer operator-word",
        })
      ).status,
    ).toBe(401);
    expect(
      (
        await connectCall(url, "/steward.monitor.v1.StatusService/GetStatus", "{}", {
          authorization: "Bearer admin-word",
        })
      ).status,
    ).toBe(200);
    expect((await ask(url, "GET", "/healthz")).status).toBe(200);
    expect(reasons).toHaveLength(5);
  });

  it("takes the operator's token where there is no other", async () => {
    const { url } = await startGateway({
      services: [statusService()],
      auth: { token, allowedHosts: [] },
    });
    expect(
      (await ask(url, "GET", "/api/status.json", { authorization: "Bearer operator-word" })).status,
    ).toBe(200);
    expect((await ask(url, "GET", "/api/status.json")).status).toBe(401);
  });

  it("says what to do about a foreign name and a foreign page, without a challenge", async () => {
    const reasons: string[] = [];
    const { url } = await startGateway({
      services: [statusService()],
      adminRefused: (reason) => reasons.push(reason),
    });
    const host = await ask(url, "GET", "/api/status.json", { host: "evil.example" });
    expect([host.status, host.headers["www-authenticate"]]).toEqual([403, undefined]);
    expect(host.body).toContain("gateway.allowed_hosts");
    const page = await ask(url, "POST", "/steward.monitor.v1.StatusService/GetStatus", {
      "content-type": "application/json",
      "sec-fetch-site": "cross-site",
      "content-length": "0",
    });
    expect(page.status).toBe(403);
    expect(reasons).toEqual(["untrusted_host", "cross_site_request"]);
    expect((await ask(url, "GET", "/api/status.json", { host: "localhost.:1" })).status).toBe(200);
  });
});

it("every answer of the surface, errors and probes too, has the headers that keep it where it is", async () => {
  const { url } = await startGateway({
    services: [statusService()],
    auth: { token: Secret.of("word", "test"), allowedHosts: [] },
  });
  for (const [path, authorization] of [
    ...documents.map((each) => [each, "Bearer word"] as const),
    ["/api/status.json", ""],
    ["/api/nothing", ""],
    ["/healthz", ""],
    ["/readyz", ""],
  ] as const) {
    const { headers } = await ask(url, "GET", path, { authorization });
    expect({ path, ...headers }).toMatchObject({
      path,
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
    expect(headers["strict-transport-security"]).toBeUndefined();
  }
});

describe("with a listener of its own", () => {
  const auth = {
    token: Secret.of("operator-word", "test"),
    adminToken: Secret.of("admin-word", "test"),
    allowedHosts: [],
  };
  const [admin, operator] = [
    { authorization: "Bearer admin-word" },
    { authorization: "Bearer operator-word" },
  ];

  it("the surface is there and nowhere else, and probes answer on both", async () => {
    const services = [statusService(), systemService()];
    const main = await startGateway({ services, auth, surface: "gateway" });
    const own = await startGateway({ services, auth, surface: "admin" });
    for (const path of documents)
      expect([
        (await ask(main.url, "GET", path, admin)).status,
        (await ask(own.url, "GET", path, admin)).status,
      ]).toEqual([404, 200]);
    for (const path of ["/api/v1/health", "/docs", "/openapi.json"])
      expect([
        (await ask(main.url, "GET", path, operator)).status,
        (await ask(own.url, "GET", path, operator)).status,
      ]).toEqual([200, 404]);
    for (const path of ["/healthz", "/readyz"])
      expect([
        (await ask(main.url, "GET", path)).status,
        (await ask(own.url, "GET", path)).status,
      ]).toEqual([200, 200]);
  });

  it("a status page that is off takes its documents along, and leaves probes and profiles", async () => {
    const profile: PlainRoute = {
      verb: "GET",
      template: "/debug/pprof/heap",
      access: Access.ADMIN,
      dialect: "monitor",
      handle: () => Promise.resolve({ status: 200, headers: {}, body: "heap" }),
    };
    const { url } = await startGateway({
      services: [statusService(), systemService()],
      plain: [profile],
      landing: false,
    });
    for (const path of [...documents, "/"])
      expect(await ask(url, "GET", path)).toMatchObject({
        status: 404,
        body: "404 page not found\n",
      });
    for (const path of ["/debug/pprof/heap", "/healthz", "/readyz", "/api/v1/health"])
      expect((await ask(url, "GET", path)).status).toBe(200);
  });

  it("rpc stays on the gateway, still for administrators only", async () => {
    const main = await startGateway({ services: [statusService()], auth, surface: "gateway" });
    const own = await startGateway({ services: [statusService()], auth, surface: "admin" });
    const call = "/steward.monitor.v1.StatusService/GetStatus";
    expect((await connectCall(main.url, call, "{}", admin)).status).toBe(200);
    expect((await connectCall(main.url, call, "{}", operator)).status).toBe(401);
    expect((await connectCall(own.url, call, "{}", admin)).status).toBe(404);
  });

  it("other machines reach it with the administrator's token alone, and not without any", () => {
    const deps = {
      services: [],
      plain: [],
      probes: {
        live: () => ({ ok: true, reasons: [] }),
        ready: () => ({ ok: true, reasons: [] }),
        serviceReady: () => true,
      },
      clock: systemClock,
      ids: systemIds,
      log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
    };
    const make = (given: Pick<GatewayDeps, "auth" | "surface">): unknown =>
      createGateway({ ...deps, ...given }, { address: { host: "0.0.0.0", port: 0 } });
    expect(() => make({ surface: "admin", auth: { allowedHosts: [] } })).toThrow("admin.listen");
    expect(() =>
      make({ surface: "gateway", auth: { adminToken: auth.adminToken, allowedHosts: [] } }),
    ).toThrow("gateway.listen");
    expect(() =>
      make({ surface: "admin", auth: { adminToken: auth.adminToken, allowedHosts: [] } }),
    ).not.toThrow();
  });
});
