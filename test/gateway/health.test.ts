import { describe, expect, it } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import { grpcClient, startGateway } from "./start-gateway.ts";

const system = "steward.dedup.v1.SystemService";

describe("gRPC health", () => {
  it("tells the process's readiness under the empty name and each service's own under its name, without a token", async () => {
    const { host } = await startGateway({
      auth: { token: Secret.of("word", "test"), allowedHosts: [] },
      probes: {
        live: () => ({ ok: true, reasons: [] }),
        ready: () => ({ ok: true, reasons: [] }),
        serviceReady: (name) => name !== system,
      },
    });
    const client = grpcClient(host);
    const check = async (service: string): Promise<Status> =>
      (await client.unary(Health.method.check, { service })).status;
    expect(await check("")).toBe(Status.SERVING);
    expect(await check(system)).toBe(Status.NOT_SERVING);
    expect(await check("steward.dedup.v1.JobService")).toBe(Status.SERVING);
    await expect(check("steward.unknown.v1.Service")).rejects.toMatchObject({
      code: 5,
      details: expect.stringContaining(system) as string,
    });
    const { statuses } = await client.unary(Health.method.list, {});
    expect(Object.keys(statuses)).toEqual(["", system, "steward.dedup.v1.JobService"]);
    expect(statuses[system]?.status).toBe(Status.NOT_SERVING);
  });

  it("speaks to a watcher at once, on every change, and of unknown services", async () => {
    let ok = false;
    const { host } = await startGateway({
      probes: {
        live: () => ({ ok: true, reasons: [] }),
        ready: () => ({ ok, reasons: [] }),
        serviceReady: () => true,
      },
    });
    const client = grpcClient(host);
    const seen: Status[] = [];
    const watch = client.stream(Health.method.watch, { service: "" });
    watch
      .on("error", () => undefined)
      .on("data", (message: { status: Status }) => void seen.push(message.status));
    await expect.poll(() => seen).toEqual([Status.NOT_SERVING]);
    ok = true;
    await expect
      .poll(() => seen, { timeout: 60_000 })
      .toEqual([Status.NOT_SERVING, Status.SERVING]);
    watch.cancel();
    const unknown = client.stream(Health.method.watch, { service: "nobody" });
    unknown.on("error", () => undefined);
    expect(await new Promise((resolve) => unknown.once("data", resolve))).toMatchObject({
      status: Status.SERVICE_UNKNOWN,
    });
    unknown.cancel();
  });
});
