import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import {
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { bothNetworks, startEstate, type Estate, type Section } from "./monitor-estate.ts";

afterAll(removeTemporaryFolders);

type Line = Readonly<Record<string, unknown>> & { readonly msg: string; readonly name?: string };
const parsed = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line);

/** The hosted network alone, with little patience. */
function hosted(estate: Estate, collectors: Section): Section {
  const { networks, ...others } = bothNetworks(estate);
  const [network = {}] = networks as Section[];
  return {
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: temporaryFolder() },
    services: { dedup: false, tokens: false },
    logging: { format: "json" },
    ...others,
    networks: [{ ...network, http: { retry: { max_attempts: 1 } } }],
    collectors,
  };
}

it("each new kind of failure of a collector is a line of its own, without a stack, and its end says how long it lasted", async () => {
  await using estate = await startEstate();
  const { faults } = estate.tailscale;
  const daemon = await startDaemon({
    config: JSON.stringify(
      hosted(estate, { devices: { interval: "1s" }, users: { interval: "1s" } }),
    ),
  });
  const of = (message: string, name = "devices"): Line[] =>
    parsed(daemon.stderr).filter((line) => line.msg === message && line.name === name);
  await vi.waitFor(async () => expect((await rest(daemon, "GET", "/readyz")).status).toBe(200), {
    timeout: 60_000,
    interval: 50,
  });
  faults.next("devices", { kind: "status", status: 403 }, 2);
  faults.next("devices", { kind: "status", status: 500 }, 2);
  faults.next("devices", { kind: "html", status: 200 }, 2);
  faults.next("devices", { kind: "truncate" }, 2);
  faults.next("devices", { kind: "status", status: 401 }, 2);
  await vi.waitFor(() => expect(of("collector recovered")).toHaveLength(1), {
    timeout: 60_000,
    interval: 50,
  });
  const failed = of("collector failed");
  expect(failed.map((line) => [line["class"], line["status"]])).toEqual([
    ["forbidden", 403],
    ["server", 500],
    ["decode", 200],
    [expect.stringMatching(/^(transport|decode)$/), expect.anything()],
    ["auth", 401],
  ]);
  for (const line of failed)
    expect(line).toMatchObject({
      operation: "devices",
      url: `${estate.tailscale.url}/api/v2/tailnet/corp.test/devices`,
      error: { code: "upstream" },
    });
  expect(of("collector recovered")[0]).toMatchObject({
    level: "info",
    failed_runs: expect.any(Number) as number,
    failed_for: expect.stringMatching(/^\d+s$/) as string,
  });
  expect(daemon.stderr.filter((line) => line.includes("stack"))).toEqual([]);
  // A part that may not be asked is no failure, and is said all the same.
  faults.next("user_invites", { kind: "status", status: 403 }, 100);
  await vi.waitFor(
    () =>
      expect(
        parsed(daemon.stderr).filter(({ name, status }) => name === "users" && status === 403)
          .length,
      ).toBeGreaterThan(0),
    { timeout: 60_000, interval: 50 },
  );
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

it("a control plane that is down is told by its address and the system's reason: in each line, and once in the health, on the page and before a start", async () => {
  await using estate = await startEstate();
  const names = ["devices", "users", "keys", "dns", "acl", "contacts"];
  const config = hosted(
    estate,
    Object.fromEntries(names.map((name) => [name, { interval: "1s" }])),
  );
  const daemon = await startDaemon({ config: JSON.stringify(config) });
  await vi.waitFor(async () => expect((await rest(daemon, "GET", "/readyz")).status).toBe(200), {
    timeout: 60_000,
    interval: 50,
  });
  const { host, origin } = new URL(estate.tailscale.url);
  await estate.tailscale.stop();
  const down = `ECONNREFUSED ${host}`;
  const failed = (): Line[] =>
    parsed(daemon.stderr).filter(({ msg }) => msg === "collector failed");
  await vi.waitFor(
    () =>
      expect(
        failed()
          .filter(({ error }) => JSON.stringify(error).includes(down))
          .map(({ name }) => name),
      ).toEqual(expect.arrayContaining(names)),
    { timeout: 60_000, interval: 50 },
  );
  for (const line of failed()) expect(String(line["url"])).toContain(`${origin}/api/v2/`);
  let reasons: string[] = [];
  await vi.waitFor(
    async () => {
      const { json } = await rest(daemon, "GET", "/api/status.json");
      reasons = (json.health_reasons as string[]).filter((reason) => reason.includes(down));
      expect(reasons.find((reason) => /^\d+ collectors "/.test(reason))).toMatch(
        /\d consecutive failures: the connection failed: ECONNREFUSED /,
      );
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(reasons).toHaveLength(1);
  const { json } = await rest(daemon, "GET", "/api/status.json");
  expect(json.collectors.find(({ name }: { name: string }) => name === "devices").last_error).toBe(
    `tailscale: devices: the connection failed: ${down} (${origin}/api/v2/tailnet/corp.test/devices)`,
  );
  const page = (await rest(daemon, "GET", "/")).text;
  expect(page.slice(0, page.indexOf("</section>")).split(down)).toHaveLength(2);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  const file = join(temporaryFolder(), "steward.yaml");
  writeFileSync(file, JSON.stringify(config));
  const preflight = await runSteward(["-preflight", "-config", file]);
  expect(preflight.code).toBe(4);
  const rows = preflight.stdout.split("\n").filter((row) => row.includes(" FAILED "));
  expect(rows.length).toBeGreaterThanOrEqual(names.length);
  expect(rows.filter((row) => row.includes(down))).toHaveLength(1);
  expect(rows.filter((row) => / as \w+$/.test(row)).length).toBeGreaterThanOrEqual(
    names.length - 1,
  );
});
