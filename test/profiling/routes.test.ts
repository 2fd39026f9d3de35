import { describe, expect, it } from "vitest";
import { createGateway, type Gateway } from "../../gateway/gateway.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import type { Profiles } from "../../src/profiling/profiles.ts";
import { profileRoutes } from "../../src/profiling/routes.ts";

const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
const well = { ok: true, reasons: [] };

async function serve(
  profiles: Partial<Profiles>,
): Promise<{ gateway: Gateway; ask: (path: string, init?: RequestInit) => Promise<Response> }> {
  const missing = (): Promise<never> => Promise.reject(new Error("not asked for"));
  const gateway = createGateway(
    {
      services: [],
      plain: profileRoutes({ cpu: missing, heap: missing, ...profiles }, [
        "/usr/bin/node",
        "steward",
        "-config",
        "x.yaml",
      ]),
      probes: {
        live: () => well,
        ready: () => well,
        components: () => [],
        serviceReady: () => true,
      },
      auth: {
        token: Secret.of("operator", "test"),
        adminToken: Secret.of("administrator", "test"),
        allowedHosts: [],
      },
      log,
      clock: systemClock,
      ids: systemIds,
    },
    { address: { host: "127.0.0.1", port: 0 } },
  );
  await gateway.start();
  return {
    gateway,
    ask: (path, init = {}) =>
      fetch(`http://127.0.0.1:${gateway.port}${path}`, {
        headers: { authorization: "Bearer administrator" },
        ...init,
      }),
  };
}

describe("The routes of profiles", () => {
  it("answer the index and the command line as text", async () => {
    const { gateway, ask } = await serve({});
    for (const path of ["/debug/pprof", "/debug/pprof/"]) {
      const answer = await ask(path);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        200,
        "text/plain; charset=utf-8",
      ]);
      expect(await answer.text()).toContain("profile?seconds=30");
    }
    expect(await (await ask("/debug/pprof/cmdline")).text()).toBe(
      "/usr/bin/node\0steward\0-config\0x.yaml",
    );
    await gateway.stop(0);
  });

  it("answer profiles as files, the CPU's of as many seconds as asked for", async () => {
    const asked: number[] = [];
    const { gateway, ask } = await serve({
      cpu: (ms) => {
        asked.push(ms);
        return Promise.resolve(Buffer.from("cpu"));
      },
      heap: () => Promise.resolve(Buffer.from("heap")),
    });
    const profile = await ask("/debug/pprof/profile?seconds=120");
    expect([
      profile.status,
      profile.headers.get("content-type"),
      profile.headers.get("content-disposition"),
      await profile.text(),
    ]).toEqual([200, "application/octet-stream", 'attachment; filename="profile.pb.gz"', "cpu"]);
    expect(await (await ask("/debug/pprof/profile")).text()).toBe("cpu");
    expect((await ask("/debug/pprof/profile", { method: "HEAD" })).status).toBe(200);
    expect(asked).toEqual([120_000, 30_000]);
    expect(await (await ask("/debug/pprof/heap")).text()).toBe("heap");
    await gateway.stop(0);
  });

  it.each(["0", "121", "-1", "1.5", "x", "", "1e1", "0x10"])(
    "refuse seconds=%s",
    async (seconds) => {
      const { gateway, ask } = await serve({});
      const answer = await ask(`/debug/pprof/profile?seconds=${seconds}`);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining("from 1 to 120"),
      ]);
      await gateway.stop(0);
    },
  );

  it("say 409 while another profile is recorded", async () => {
    const { gateway, ask } = await serve({
      cpu: () =>
        Promise.reject(
          new StewardError(
            "already_running",
            "a CPU profile is being recorded; try again when it has ended",
          ),
        ),
    });
    const answer = await ask("/debug/pprof/profile?seconds=1");
    expect([answer.status, await answer.text()]).toEqual([
      409,
      "a CPU profile is being recorded; try again when it has ended\n",
    ]);
    await gateway.stop(0);
  });

  it("end a recording when the client leaves", async () => {
    const begun = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { gateway, ask } = await serve({
      cpu: async (_ms, signal) => {
        signal.addEventListener("abort", () => left.resolve());
        begun.resolve();
        await left.promise;
        throw signal.reason as Error;
      },
    });
    const leaving = new AbortController();
    const asked = ask("/debug/pprof/profile", { signal: leaving.signal }).catch(() => "left");
    await begun.promise;
    leaving.abort();
    await left.promise;
    expect(await asked).toBe("left");
    await gateway.stop(0);
  });

  it("are for administrators only, and have neither symbol nor trace", async () => {
    const { gateway, ask } = await serve({});
    for (const path of [
      "/debug/pprof/",
      "/debug/pprof/cmdline",
      "/debug/pprof/profile",
      "/debug/pprof/heap",
    ]) {
      for (const headers of [
        {},
        { authorization: "Bearer operator" },
        { authorization: "Bearer wrong" },
      ] as Record<string, string>[])
        expect((await ask(path, { headers })).status).toBe(401);
      expect((await ask(path, { method: "POST" })).status).toBe(405);
    }
    for (const path of ["/debug/pprof/symbol", "/debug/pprof/trace", "/debug/pprof/goroutine"]) {
      const answer = await ask(path);
      expect([answer.status, await answer.text()]).toEqual([404, "404 page not found\n"]);
    }
    await gateway.stop(0);
  });
});
