import { connect } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { JobService } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { SystemService } from "../../src/gen/steward/dedup/v1/system_pb.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import type { PlainRoute } from "../../src/kernel/service.ts";
import type { RequestObserver } from "../../src/kernel/telemetry/report/requests.ts";
import {
  connectCall,
  grpcClient,
  jobService,
  startGateway,
  systemService,
} from "./start-gateway.ts";

/**
 * What an observer hears, one text each: `protocol method route -> code`, a fault with an
 * exclamation mark.
 */
function listener(): {
  observe: RequestObserver;
  heard: string[];
  refused: string[];
  until: (count: number) => Promise<string[]>;
} {
  const heard: string[] = [];
  const refused: string[] = [];
  return {
    heard,
    refused,
    observe: {
      begin: ({ protocol, method, route }) => ({
        fields: { trace_id: "t-1" },
        run: (serve) => serve(),
        end: ({ code, failed }) =>
          void heard.push(`${protocol} ${method} ${route} -> ${code}${failed ? "!" : ""}`),
      }),
      refused: (reason) => void refused.push(reason),
    },
    async until(count) {
      while (heard.length < count) await new Promise((resolve) => setImmediate(resolve));
      return heard;
    },
  };
}

const slow: PlainRoute = {
  verb: "GET",
  template: "/slow",
  access: Access.PUBLIC,
  dialect: "dedup",
  handle: (_request, { signal }) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(new StewardError("cancelled", "gone"))),
    ),
};

const failing = jobService({
  getJob: () => {
    throw new StewardError("not_found", "there is no such job");
  },
  async *watchJob() {
    yield { event: "progress" };
    await Promise.resolve();
    throw new StewardError("internal", "it broke");
  },
});

describe("the observer of a gateway", () => {
  it("hears the route of every request, and never a path that the client made up", async () => {
    const { observe, until } = listener();
    const { url } = await startGateway({ observe });
    for (const path of [
      "/api/v1/health?x=1",
      "/api/v1/jobs/4711",
      "/healthz",
      "/no/such/4711",
      "/steward.dedup.v1.JobService/Nothing4711",
    ])
      await (await fetch(url + path)).text();
    await fetch(`${url}/api/v1/health`, { method: "DELETE" });
    expect(await until(6)).toEqual([
      "rest GET /api/v1/health -> 200",
      "rest GET /api/v1/jobs/{job_id} -> 200",
      "rest GET /healthz -> 200",
      "rest GET (none) -> 404",
      "connect GET (none) -> 404",
      "rest DELETE (none) -> 405",
    ]);
  });

  it("hears how an rpc ended in each protocol, though most answer 200 whatever happens", async () => {
    const { observe, until } = listener();
    const { url, host } = await startGateway({ observe, services: [systemService(), failing] });
    const grpc = grpcClient(host);
    await grpc.unary(SystemService.method.getHealth, {});
    await grpc.unary(JobService.method.getJob, { jobId: "x" }).catch(() => undefined);
    const web = createClient(
      JobService,
      createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }),
    );
    await web.getJob({ jobId: "x" }).catch(() => undefined);
    const connected = createClient(
      JobService,
      createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
    );
    await connected.getJob({ jobId: "x" }).catch(() => undefined);
    for await (const _event of connected.watchJob({ jobId: "x" })) break;
    // The server hears of a client that leaves a moment later.
    await until(5);
    const stream = connected.watchJob({ jobId: "x" })[Symbol.asyncIterator]();
    await stream
      .next()
      .then(() => stream.next())
      .catch(() => undefined);
    const heard = await until(6);
    expect(heard.slice(0, 4)).toEqual([
      "grpc POST /steward.dedup.v1.SystemService/GetHealth -> ok",
      "grpc POST /steward.dedup.v1.JobService/GetJob -> not_found",
      "grpc-web POST /steward.dedup.v1.JobService/GetJob -> not_found",
      "connect POST /steward.dedup.v1.JobService/GetJob -> 404",
    ]);
    expect(heard.at(-1)).toBe("connect POST /steward.dedup.v1.JobService/WatchJob -> internal!");
  });

  it("hears of a client that went away before its answer", async () => {
    const { observe, until } = listener();
    const { gateway } = await startGateway({ observe, plain: [slow] });
    const socket = connect(gateway.port, "127.0.0.1", () =>
      socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    );
    while (gateway.inFlight() === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    expect(await until(1)).toEqual(["rest GET /slow -> gone"]);
  });

  it("hears why access refused", async () => {
    const { observe, refused } = listener();
    const { url, host } = await startGateway({
      observe,
      auth: { token: Secret.of("a-token-of-the-operator", "test"), allowedHosts: [] },
    });
    await fetch(`${url}/api/v1/jobs`);
    await connectCall(url, "/steward.dedup.v1.JobService/ListJobs", "{}");
    await grpcClient(host)
      .unary(JobService.method.listJobs, {})
      .catch(() => undefined);
    expect(refused).toEqual(["unauthenticated", "unauthenticated", "unauthenticated"]);
  });

  it("adds its fields to the request's line", async () => {
    const { observe, until } = listener();
    const { url, lines } = await startGateway({ observe });
    await (await fetch(`${url}/api/v1/health`)).text();
    await until(1);
    expect(lines.find((line) => line.includes("path=/api/v1/health"))).toContain("trace_id=t-1");
  });
});

describe("a port", () => {
  it("counts what it turned away: connections, requests without a place, bodies that were slow", async () => {
    const { gateway } = await startGateway(
      { plain: [slow] },
      { connections: 3, admissionMs: 10, owner: { requests: 1, bodyMs: 50 } },
    );
    const open = (text: string): Promise<string> =>
      new Promise((resolve) => {
        let said = "";
        const socket = connect(gateway.port, "127.0.0.1", () => socket.write(text));
        socket
          .on("data", (chunk) => {
            said += String(chunk);
            if (said.includes("\r\n\r\n")) resolve(said);
          })
          .on("error", () => resolve(said))
          .on("close", () => resolve(said));
      });
    expect(
      await open(
        "POST /steward.dedup.v1.JobService/GetJob HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
      ),
    ).toMatch(/^HTTP\/1\.1 408/);
    void open("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (gateway.inFlight() === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(
      await open("GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
    ).toMatch(/^HTTP\/1\.1 429/);
    expect(gateway.refused().filter(({ count }) => count > 0)).toEqual([
      { reason: "busy", share: "owner", count: 1 },
      { reason: "slow_body", share: "owner", count: 1 },
    ]);
    const cut = (): number =>
      gateway.refused().find(({ reason }) => reason === "connections")?.count ?? 0;
    const crowd = Array.from({ length: 5 }, () => open("GET /healthz HTTP/1.1\r\n"));
    while (cut() === 0) await new Promise((resolve) => setImmediate(resolve));
    void Promise.allSettled(crowd);
    expect(cut()).toBeGreaterThanOrEqual(1);
  });
});
