import { once } from "node:events";
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
} from "node:http2";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GatewayDeps } from "../../gateway/gateway.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { JobService } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import type { LimitOverrides } from "../../src/kernel/listen/admission/limits.ts";
import type { PlainRoute, Remote } from "../../src/kernel/service.ts";
import { allServices } from "./all-services.ts";
import { grpcClient, jobService, startGateway } from "./start-gateway.ts";

const TOKEN = "operator-token-of-this-test";
const OWNER = { authorization: `Bearer ${TOKEN}` };
const auth = { token: Secret.of(TOKEN, "test"), allowedHosts: [] };
/** One place for strangers, none to wait for. */
const NARROW: LimitOverrides = { admissionMs: 1, stranger: { requests: 0, streams: 0 } };

function route(more: Partial<PlainRoute> = {}): PlainRoute {
  return {
    verb: "*",
    template: "/v1/{rest=**}",
    access: Access.SELF,
    dialect: "vault",
    handle: () => Promise.resolve({ status: 200, headers: {}, body: "served" }),
    ...more,
  };
}

async function ask(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<number> {
  return (await fetch(`${url}${path}`, { headers, ...init })).status;
}

describe("with a token, an owner", () => {
  it.each<[string, string, Record<string, string>]>([
    ["shows it to a method for operators", "/api/v1/jobs", OWNER],
    ["shows it to an open method", "/api/v1/health", OWNER],
    [
      "shows it as the password of Basic",
      "/api/v1/jobs",
      { authorization: `Basic ${btoa(`x:${TOKEN}`)}` },
    ],
    ["has the service's own credential where that counts", "/v1/x", { "x-vault-token": "live" }],
  ])("%s", async (_name, path, headers) => {
    const { url } = await startGateway(
      { auth, plain: [route({ hasCredential: (given) => given["x-vault-token"] === "live" })] },
      NARROW,
    );
    expect(await ask(url, path, headers)).toBe(200);
  });

  it.each<[string, string, Record<string, string>]>([
    ["without a credential", "/api/v1/jobs", {}],
    ["with a wrong one", "/api/v1/jobs", { authorization: "Bearer wrong" }],
    ["with the operator's token below /v1", "/v1/x", OWNER],
    ["with another service's credential", "/v1/x", { "x-vault-token": "dead" }],
    ["on this machine", "/v1/x", {}],
    ["of a path that nobody serves", "/api/v1/nothing", {}],
  ])("is not who comes %s", async (_name, path, headers) => {
    const { url } = await startGateway(
      { auth, plain: [route({ hasCredential: (given) => given["x-vault-token"] === "live" })] },
      NARROW,
    );
    expect(await ask(url, path, headers)).toBe(429);
  });

  it("of the admin surface is who has its token", async () => {
    const admin = route({
      verb: "GET",
      template: "/admin",
      access: Access.ADMIN,
      dialect: "monitor",
    });
    const { url } = await startGateway(
      {
        auth: { ...auth, adminToken: Secret.of("admin-token-of-this-test", "test") },
        plain: [admin],
      },
      NARROW,
    );
    expect([
      await ask(url, "/admin", { authorization: "Bearer admin-token-of-this-test" }),
      await ask(url, "/admin", OWNER),
    ]).toEqual([200, 503]);
  });
});

describe("without a token, an owner", () => {
  const plain = [route()];

  it("is who comes from this machine", async () => {
    const { url } = await startGateway({ plain }, NARROW);
    expect([await ask(url, "/api/v1/jobs"), await ask(url, "/v1/x")]).toEqual([200, 200]);
  });

  it.each([
    { "x-forwarded-for": "192.0.2.1" },
    { forwarded: "for=192.0.2.1" },
    { "x-real-ip": "192.0.2.1" },
    { via: "1.1 proxy" },
    { "x-forwarded-proto": "https" },
  ])("is nobody whose request was passed on: %j", async (headers) => {
    const { url } = await startGateway({ plain }, NARROW);
    expect(await ask(url, "/api/v1/jobs", headers)).toBe(429);
  });
});

describe("a probe", () => {
  it.each(["/healthz", "/readyz", "/api/v1/health", "/api/v1/ready", "/v1/sys/health"])(
    "by %s is answered however many others wait",
    async (path) => {
      const { url } = await startGateway(
        { auth, plain: [route()] },
        { ...NARROW, owner: { requests: 0 } },
      );
      expect(await ask(url, path)).toBe(200);
    },
  );

  it("by gRPC is answered, too", async () => {
    const { host } = await startGateway({ auth }, { ...NARROW, owner: { requests: 0 } });
    expect(await grpcClient(host).unary(Health.method.check, {})).toMatchObject({ status: 1 });
    expect((await grpcClient(host).unary(Health.method.list, {})).statuses).toHaveProperty("");
    await expect(
      grpcClient(host, OWNER).unary(JobService.method.listJobs, {}),
    ).rejects.toMatchObject({ code: 8 });
  });

  it("takes no large body", async () => {
    const { host } = await startGateway();
    await expect(
      grpcClient(host).unary(Health.method.check, { service: "x".repeat(5_000) }),
    ).rejects.toMatchObject({ code: 8 });
  });
});

describe("who is not admitted", () => {
  it.each<[string, string, number, RegExp]>([
    ["monitor", "/", 503, /^too many requests at once[^{]*$/],
    ["dedup", "/api/v1/jobs", 429, /"code":"TOO_MANY_REQUESTS"/],
    ["tokens", "/v1/x", 429, /^\{"errors":\["too many requests at once/],
    ["Connect", "/steward.dedup.v1.JobService/ListJobs", 429, /"code":"resource_exhausted"/],
  ])("reads so in the style of %s", async (_surface, path, status, body) => {
    const { url } = await startGateway({ auth, plain: [route()] }, NARROW);
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, "1"]);
    expect(await answer.text()).toMatch(body);
  });

  it("reads so over gRPC", async () => {
    const { host } = await startGateway({ auth }, NARROW);
    await expect(grpcClient(host).unary(JobService.method.listJobs, {})).rejects.toMatchObject({
      code: 8,
      details: expect.stringContaining("too many requests") as string,
    });
    await expect(
      new Promise((_resolve, reject) =>
        grpcClient(host).stream(Health.method.watch, {}).on("error", reject).resume(),
      ),
    ).rejects.toMatchObject({
      code: 8,
      details: expect.stringContaining("too many streams") as string,
    });
  });
});

describe("a stream that lasts", () => {
  const endless = (): GatewayDeps["services"] => [
    jobService({
      async *watchJob(_request, { signal }) {
        yield { event: "progress" };
        await new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      },
    }),
  ];
  const events = route({
    verb: "GET",
    template: "/api/v1/events",
    dialect: "dedup",
    access: Access.OPERATOR,
    longLived: true,
    handle: () =>
      Promise.resolve({
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: (async function* () {
          yield "data: begun\n\n";
          await new Promise(() => undefined);
        })(),
      }),
  });

  it("ends at its age with UNAVAILABLE over gRPC", async () => {
    const { host } = await startGateway({ services: endless() }, { owner: { streamMs: 100 } });
    const end = new Promise((resolve) =>
      grpcClient(host)
        .stream(JobService.method.watchJob, { jobId: "j" })
        .on("error", resolve)
        .resume(),
    );
    expect(await end).toMatchObject({
      code: 14,
      details: expect.stringContaining("open it again") as string,
    });
    const talk = grpcClient(host).talk(ServerReflection.method.serverReflectionInfo);
    talk.write({
      $typeName: "grpc.reflection.v1.ServerReflectionRequest",
      host: "",
      messageRequest: { case: "listServices", value: "" },
    });
    expect(await new Promise((resolve) => talk.on("error", resolve).resume())).toMatchObject({
      code: 14,
    });
  });

  it("of events ends whole at its age", async () => {
    const { url } = await startGateway({ plain: [events] }, { owner: { streamMs: 100 } });
    expect(await (await fetch(`${url}/api/v1/events`)).text()).toBe("data: begun\n\n");
  });

  it("takes no request's place, and no request takes its", async () => {
    const { url, gateway } = await startGateway(
      { plain: [events] },
      { admissionMs: 1, owner: { requests: 1, streams: 1 } },
    );
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    await fetch(`${url}/api/v1/events`, { signal: gone.signal });
    expect([gateway.inFlight(), gateway.streams()]).toEqual([0, 1]);
    expect([await ask(url, "/api/v1/jobs"), await ask(url, "/api/v1/events")]).toEqual([200, 429]);
    gone.abort();
    await expect.poll(() => gateway.streams()).toBe(0);
  });

  it("is every method that watches, and reflection; one that sends a file is a request", () => {
    const streaming = allServices()
      .flatMap(({ desc }) => desc.methods)
      .filter(({ methodKind }) => methodKind !== "unary")
      .map(({ parent, name }) => `${parent.typeName}/${name}`);
    expect(streaming.toSorted()).toEqual([
      "steward.dedup.v1.ArchiveService/StreamPreview",
      "steward.dedup.v1.ArchiveService/StreamThumbnail",
      "steward.dedup.v1.JobService/WatchJob",
      "steward.monitor.v1.StatusService/WatchStatus",
    ]);
  });
});

describe("a gRPC message that says it has 4 GiB", () => {
  const open = (url: string): ClientHttp2Session => {
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    return session;
  };

  it.each([
    "/steward.dedup.v1.JobService/ListJobs",
    "/steward.dedup.v1.JobService/WatchJob",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  ])("ends its stream at once on %s", async (path) => {
    const { url, gateway } = await startGateway({ auth });
    const stream = open(url).request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...OWNER,
    });
    const answered = Promise.race([
      once(stream, "trailers"),
      once(stream, "response").then(async ([head]) =>
        (head as IncomingHttpHeaders)["grpc-status"] === undefined
          ? await once(stream, "trailers")
          : [head],
      ),
    ]);
    stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]));
    // The client goes on sending, and never ends its side.
    const timer = setInterval(() => stream.writable && stream.write(Buffer.alloc(16 * 1024)), 5);
    stream
      .once("close", () => clearInterval(timer))
      .on("error", () => undefined)
      .resume();
    expect((await answered)[0]).toMatchObject({ "grpc-status": "8" });
    await once(stream, "close");
    await expect.poll(() => gateway.inFlight() + gateway.streams()).toBe(0);
  });
});

describe("the address of a client behind a proxy", () => {
  const seen: Remote[] = [];
  const plain = [
    route({
      handle: ({ remote }) => (
        seen.push(remote),
        Promise.resolve({ status: 200, headers: {}, body: "" })
      ),
    }),
  ];

  it("is what a trusted proxy says, and the connection's where it is not trusted", async () => {
    const trusting = await startGateway({ plain, trustedProxies: ["127.0.0.1"] });
    const other = await startGateway({ plain });
    const headers = { "x-forwarded-for": "198.51.100.1, 203.0.113.7" };
    await ask(trusting.url, "/v1/x", headers);
    await ask(other.url, "/v1/x", headers);
    expect(seen.map(({ address }) => address)).toEqual(["203.0.113.7", "127.0.0.1"]);
  });

  it("is what a bound for each address counts", async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const held = [
      route({ handle: async () => (await release, { status: 200, headers: {}, body: "" }) }),
    ];
    const { url, gateway } = await startGateway(
      { plain: held, trustedProxies: ["127.0.0.1"] },
      { admissionMs: 1, stranger: { requests: 4, requestsPerAddress: 1 } },
    );
    const from = (address: string): Promise<number> =>
      ask(url, "/v1/x", { "x-forwarded-for": address });
    const first = from("203.0.113.7");
    await expect.poll(() => gateway.inFlight()).toBe(1);
    expect(await from("203.0.113.7")).toBe(429);
    const second = from("203.0.113.8");
    await expect.poll(() => gateway.inFlight()).toBe(2);
    resolve();
    expect(await Promise.all([first, second])).toEqual([200, 200]);
  });
});
