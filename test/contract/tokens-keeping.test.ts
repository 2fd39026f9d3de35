import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import {
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { grpcUnary } from "./rpc.ts";
import { configure, startCodeHost, startVault, type VaultDaemon } from "./vault.ts";

let host: CodeHost;

beforeAll(async () => {
  host = await startCodeHost();
});

afterAll(async () => {
  await host.stop();
  removeTemporaryFolders();
});

function configFor(state: string): string {
  const file = join(temporaryFolder(), "steward.yaml");
  writeFileSync(file, `state: { directory: ${state} }\n`);
  return file;
}

describe("a lost root token", () => {
  it("is replaced while the daemon is stopped, and only then; the audit has it, and nothing in clear", async () => {
    const first = await startVault();
    const config = configFor(first.state);
    const refused = await runSteward(["root-token", "--config", config]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      new RegExp(
        `^steward: the state folder ${first.state} is in use by process ${first.daemon.pid}; stop that process`,
      ),
    );
    await first.daemon.stop();

    const made = await runSteward(["root-token", "--config", config]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(/^hvs\.[0-9A-Za-z]{24}\n$/);
    const root = made.stdout.trim();
    const files = ["tokens.mdb", "audit.log"].map((name) =>
      readFileSync(join(first.state, name), "latin1"),
    );
    expect(files.some((text) => text.includes(root))).toBe(false);
    const records = readFileSync(join(first.state, "audit.log"), "utf8")
      .trim()
      .split("\n")
      .map(
        (line) =>
          JSON.parse(line) as {
            type: string;
            request: { path: string };
            auth?: { client_token?: string };
          },
      );
    expect(records.slice(-2).map(({ type, request }) => [type, request.path])).toEqual([
      ["request", "auth/token/root"],
      ["response", "auth/token/root"],
    ]);

    const again = await startVault({ state: first.state, root });
    expect(again.daemon.stderr.some((line) => line.includes("root token"))).toBe(false);
    expect((await again.ask("GET", "auth/token/lookup-self")).json.data).toMatchObject({
      path: "auth/token/root",
      policies: ["root"],
      ttl: 0,
      display_name: "root",
    });
    expect((await again.ask("GET", "sys/mounts", { token: first.root })).status).toBe(200);
    expect((await again.ask("POST", "auth/token/revoke-self")).status).toBe(204);
    await again.daemon.stop();
  });

  it("is not replaced where no daemon has been, or without the key, and nothing is made there", async () => {
    const empty = temporaryFolder();
    const nothing = await runSteward(["root-token", "--config", configFor(empty)]);
    expect(nothing).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(
        "holds no store of tokens; name the daemon's configuration",
      ) as string,
    });
    const vault = await startVault();
    await vault.daemon.stop();
    rmSync(join(vault.state, "tokens.key"));
    const keyless = await runSteward(["root-token", "--config", configFor(vault.state)]);
    expect([keyless.code, keyless.stdout]).toEqual([1, ""]);
    expect(keyless.stderr).toContain("the store of tokens cannot be opened: the key file");
  });

  it.skipIf(process.geteuid?.() !== 0)(
    "is not replaced by root in the place of the daemon's user, nor is the key: what helps is named, and no file becomes root's",
    async () => {
      const vault = await startVault();
      await vault.daemon.stop();
      rmSync(join(vault.state, "lock"));
      const owned = readdirSync(vault.state).map((name) => join(vault.state, name));
      for (const path of owned) chownSync(path, 4711, 4711);
      for (const command of ["root-token", "rotate-key"])
        expect(await runSteward([command, "--config", configFor(vault.state)])).toEqual({
          code: 1,
          stdout: "",
          stderr: `steward: ${vault.state}/tokens.mdb belongs to user 4711, this is user 0; run it as Steward's user: sudo -u '#4711' steward ${command}, or, as root, runuser -u NAME -- steward ${command}; a unit with DynamicUser: docs/systemd.md\n`,
        });
      expect(owned.filter((path) => statSync(path).uid !== 4711)).toEqual([]);
      expect(existsSync(join(vault.state, "lock"))).toBe(false);
    },
  );

  it("has a help text that says how", async () => {
    const help = await runSteward(["root-token", "--help"]);
    expect([
      help.code,
      help.stdout.includes(
        "runuser -u steward -- steward root-token --config /etc/steward/steward.yaml",
      ),
    ]).toEqual([0, true]);
    expect(await runSteward(["root-token", "now"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unexpected argument "now"') as string,
    });
  });
});

describe("a backup", () => {
  it("of a running daemon with leases is sound, and restores them so that they can still be revoked", async () => {
    const vault = await startVault();
    await configure(vault, host);
    const minted = await Promise.all(
      Array.from({ length: 20 }, () =>
        vault.ask("POST", "github/token", { body: { installation_id: 1001 } }),
      ),
    );
    const leases = minted.map(({ json }) => json.lease_id as string);
    const [config, target] = [configFor(vault.state), join(temporaryFolder(), "copy")];
    const copied = await runSteward(["backup", "--config", config, target]);
    expect([copied.code, copied.stdout]).toEqual([0, expect.stringMatching(/^tokens\.mdb: /m)]);
    expect(await runSteward(["check", target])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/tokens\.mdb: SOUND.*leases 20/) as string,
    });
    // What happens afterwards is in no backup.
    await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: leases[0] } });
    await vault.daemon.stop();
    writeFileSync(join(target, "tokens.key"), readFileSync(join(vault.state, "tokens.key")), {
      mode: 0o600,
    });

    const restored: VaultDaemon = await startVault({ state: target, root: vault.root });
    expect(
      (await restored.ask("LIST", "sys/leases/lookup/github/token")).json.data.keys,
    ).toHaveLength(20);
    const before = host.counts().revoked;
    expect((await restored.ask("PUT", "sys/leases/revoke-prefix/github/token")).status).toBe(204);
    expect(host.counts().revoked).toBe(before + 19); // one was gone already
    expect(
      (await restored.ask("POST", "github/token", { body: { installation_id: 1001 } })).status,
    ).toBe(200);
    await restored.daemon.stop();
  });
});

describe("a mount that is declared", () => {
  const TUNE = "sys/mounts/github/tune";
  const settings = async (vault: VaultDaemon): Promise<unknown> => {
    const { description, default_lease_ttl, max_lease_ttl } = (await vault.ask("GET", TUNE)).json
      .data as Record<string, unknown>;
    return [description, default_lease_ttl, max_lease_ttl];
  };
  const again = async (vault: VaultDaemon, mounts: string): Promise<VaultDaemon> => {
    await vault.daemon.stop();
    return await startVault({
      state: vault.state,
      root: vault.root,
      config: `tokens: { mounts: ${mounts} }`,
    });
  };

  it("by default keeps what was tuned over an unseal and a restart, and goes once the file declares none", async () => {
    const vault = await startVault();
    const body = { max_lease_ttl: "15m", description: "for runners" };
    expect((await vault.ask("POST", TUNE, { body })).status).toBe(204);
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    const key = readFileSync(join(vault.state, "tokens.key"), "utf8");
    await vault.ask("PUT", "sys/unseal", { body: { key } });
    expect(await settings(vault)).toEqual(["for runners", 900, 900]);
    await vault.daemon.stop();
    const second = await startVault({ state: vault.state, root: vault.root });
    expect(await settings(second)).toEqual(["for runners", 900, 900]);
    const kept = await second.ask("DELETE", "sys/mounts/github");
    expect([kept.status, kept.json.errors]).toEqual([
      400,
      [
        "github/ is declared by tokens.mounts (the default, when the configuration file has none); write tokens.mounts without it ([] for none), restart, then repeat this request",
      ],
    ]);
    const third = await again(second, "[]");
    expect(await settings(third)).toEqual(["for runners", 900, 900]);
    expect((await third.ask("DELETE", "sys/mounts/github")).status).toBe(204);
    expect((await third.ask("GET", TUNE)).status).toBe(400);
    await third.daemon.stop();
  });

  it("in the file has the file's settings at every start: a request for another value is refused, what the file leaves out stays as tuned", async () => {
    const vault = await again(
      await startVault(),
      "[{ path: github, description: CI, max_lease_ttl: 1h }]",
    );
    const tune = (body: unknown): ReturnType<VaultDaemon["ask"]> =>
      vault.ask("POST", TUNE, { body });
    for (const [name, value] of [
      ["max_lease_ttl", "15m"],
      ["max_lease_ttl", 0],
      ["description", "mine"],
    ] as const) {
      const refused = await tune({ default_lease_ttl: "10m", [name]: value });
      expect([refused.status, refused.json.errors]).toEqual([
        400,
        [
          `${name} of github/ is set by tokens.mounts in the configuration file, which wins at every start; change it there and restart`,
        ],
      ]);
    }
    expect(await settings(vault)).toEqual(["CI", 3_600, 3_600]);
    expect((await tune({ default_lease_ttl: "20m", max_lease_ttl: "1h" })).status).toBe(204);
    const second = await again(vault, "[{ path: github, max_lease_ttl: 1h }]");
    expect(await settings(second)).toEqual(["CI", 1_200, 3_600]);
    // A limit below what was tuned is no reason not to start.
    const third = await again(second, "[{ path: github, max_lease_ttl: 10m }]");
    expect(await settings(third)).toEqual(["CI", 600, 600]);
    expect((await third.ask("POST", TUNE, { body: { description: "" } })).status).toBe(204);
    expect(await settings(third)).toEqual(["", 600, 600]);
    await third.daemon.stop();
  });
});

describe("a sealed store", () => {
  it("is not serving by its own health, and closes neither the process's nor the page's", async () => {
    const vault = await startVault();
    const status = async (service: string): Promise<Status> =>
      (await grpcUnary(vault.daemon.host, Health.method.check, { service })).status;
    const shown = async (): Promise<unknown[]> => [
      (await rest(vault.daemon, "GET", "/readyz")).text,
      (await vault.ask("GET", "sys/health", { token: "" })).status,
      await status(""),
      await status("steward.tokens.v1.EngineService"),
      await status("steward.tokens.v1.LogicalService"),
    ];
    expect(await shown()).toEqual([
      expect.stringMatching(/^ok/),
      200,
      Status.SERVING,
      Status.SERVING,
      Status.SERVING,
    ]);
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    expect(await shown()).toEqual([
      expect.stringMatching(/^ok/),
      503,
      Status.SERVING,
      Status.NOT_SERVING,
      Status.NOT_SERVING,
    ]);
    const [whole, ...parts] = (await rest(vault.daemon, "GET", "/readyz?verbose=1")).text
      .trimEnd()
      .split("\n");
    expect([
      whole,
      parts.includes("gateway: ready"),
      parts.find((line) => line.startsWith("tokens: ")),
    ]).toEqual([
      "ok",
      true,
      "tokens: degraded, sealed by sys/seal: give the key to sys/unseal, or restart",
    ]);
    expect(
      (
        await vault.ask("PUT", "sys/unseal", {
          body: { key: readFileSync(join(vault.state, "tokens.key"), "utf8") },
        })
      ).json.sealed,
    ).toBe(false);
    expect(await shown()).toEqual([
      expect.stringMatching(/^ok/),
      200,
      Status.SERVING,
      Status.SERVING,
      Status.SERVING,
    ]);
    await vault.daemon.stop();
  });
});

it("SIGHUP, which reopens the audit, ends no daemon that has none", async () => {
  const daemon = await startDaemon({
    config: `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${temporaryFolder()} }\nservices: { tokens: false }\n`,
  });
  process.kill(daemon.pid, "SIGHUP");
  expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});
