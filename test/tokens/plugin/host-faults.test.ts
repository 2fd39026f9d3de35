import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createIdentity } from "../../../src/tokens/plugin/certificate.ts";
import { LAUNCHER } from "../../support/launcher.ts";
import { withoutPluginHost } from "../../support/plugin-host.ts";
import { spawn } from "../../support/spawn.ts";
import { MOUNT, type PluginEstate, startPluginEstate } from "./estate.ts";
import { isLongRun } from "../../support/long-run.ts";

const KILLS = isLongRun ? 100 : 20;
const MIB = 1024 * 1024;

/** The answer of gRPC to a call of any bytes. */
interface Called {
  readonly code: string;
  readonly message: string;
}

function pluginSockets(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("steward-plugin-"));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("the plugin without a host", () => {
  const start = (environment: Readonly<Record<string, string>>) =>
    spawnSync(LAUNCHER, ["plugin"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", ...environment },
    });
  const cookie = { VAULT_BACKEND_PLUGIN: "6669da05-b1c8-4f49-97d9-c8e5bed98e20" };

  it.each([
    ["by hand", {}, "plugin register"],
    ["with a wrong magic cookie", { VAULT_BACKEND_PLUGIN: "x" }, "plugin register"],
    ["by a host of older protocols", { ...cookie, PLUGIN_PROTOCOL_VERSIONS: "3,4" }, "speaks 5"],
    ["by a host without AutoMTLS", { ...cookie, PLUGIN_PROTOCOL_VERSIONS: "5" }, "AutoMTLS"],
  ])("started %s says in one line what to do, and exits with 1", (_, environment, hint) => {
    const { status, stdout, stderr } = start(environment);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain(hint);
  });

  it("ends soon after the process that started it was killed, whoever is still connected", async () => {
    const folder = mkdtempSync("/tmp/steward-host-");
    const { certificate } = await createIdentity({ clock: systemClock, ids: systemIds });
    const parent = spawn("/bin/sh", ["-c", `"${LAUNCHER}" plugin & echo $!; wait`], {
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        PATH: process.env["PATH"] ?? "",
        ...cookie,
        PLUGIN_PROTOCOL_VERSIONS: "5",
        PLUGIN_CLIENT_CERT: certificate,
        PLUGIN_UNIX_SOCKET_DIR: folder,
      },
    });
    let said = "";
    parent.stdout.setEncoding("utf8").on("data", (text: string) => void (said += text));
    await expect.poll(() => said).toContain("|unix|");
    const plugin = Number.parseInt(said, 10);
    expect(isRunning(plugin)).toBe(true);
    parent.kill("SIGKILL");
    await once(parent, "exit");
    // Less than the minute that it waits for a first connection.
    await expect.poll(() => isRunning(plugin), { timeout: 30_000 }).toBe(false);
    rmSync(folder, { recursive: true });
  });
});

describe.skipIf(withoutPluginHost !== undefined)("faults around the plugin", () => {
  let estate: PluginEstate;
  beforeAll(async () => {
    estate = await startPluginEstate();
  });
  afterAll(() => estate[Symbol.asyncDispose]());

  const pid = (): Promise<number> => estate.host.order<number>("pid");

  it(
    `survives being killed under load, ${KILLS} times: the next request starts it again`,
    async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const before = await pid();
        const mints = Array.from({ length: 8 }, () => estate.mint());
        process.kill(before, "SIGKILL");
        // Until the host notices the death, a request in flight fails as a lost connection does.
        for (const outcome of await Promise.allSettled(mints))
          if (outcome.status === "rejected")
            expect(String(outcome.reason)).toMatch(/Unavailable|shut down/);
        await expect
          .poll(() =>
            estate.mint().then(
              () => pid(),
              () => before,
            ),
          )
          .not.toBe(before);
      }
    },
    KILLS * 15_000,
  );

  it("removes the sockets that killed plugins left, and no other file", async () => {
    const { folder } = estate.host;
    const left = pluginSockets(folder);
    // Where the kills took more than a minute, the last starts have removed some already.
    expect(left.length).toBeGreaterThan(1);
    const foreign = join(folder, "steward-plugin-notmine00000.sock");
    writeFileSync(foreign, "");
    for (const name of left) utimesSync(join(folder, name), new Date(0), new Date(0));
    utimesSync(foreign, new Date(0), new Date(0));
    await estate.host.order("reload", { mount: MOUNT });
    // The plugin looks around after its handshake.
    await expect.poll(() => pluginSockets(folder).length).toBe(2);
    expect(pluginSockets(folder)).toContain("steward-plugin-notmine00000.sock");
    rmSync(foreign);
  });

  it("ignores SIGINT, which Ctrl-C at the host sends to both", async () => {
    const before = await pid();
    process.kill(before, "SIGINT");
    await estate.mint();
    expect(await pid()).toBe(before);
  });

  it("answers what a standby's storage says in its own words", async () => {
    await estate.host.order("read only", { mount: MOUNT, read_only: true });
    for (const [operation, path, data] of [
      ["update", "config", { exclude_repository_metadata: true }],
      ["update", "permissionset/x", { org_name: "example-org" }],
      ["delete", "permissionset/x", {}],
    ] as const)
      expect((await estate.host.request(MOUNT, operation, path, { data })).error?.message).toBe(
        "cannot write to readonly storage",
      );
    await estate.mint();
    await estate.host.order("read only", { mount: MOUNT, read_only: false });
    expect(await estate.configure()).toEqual({ operation: "update" });
  });

  it("goes on when the files of the host's sockets vanish", async () => {
    for (const name of readdirSync(estate.host.folder))
      if (!name.startsWith("steward-plugin-")) rmSync(join(estate.host.folder, name));
    expect((await estate.host.request(MOUNT, "read", "config")).error).toBeUndefined();
    await estate.host.order("reload", { mount: MOUNT });
    await estate.mint();
  });

  it("answers malformed, unnamed and oversized messages with a gRPC error, and goes on", async () => {
    const before = await pid();
    const method = "/pb.Backend/HandleRequest";
    const call = (more: object): Promise<Called> =>
      estate.host.order<Called>("call", { mount: MOUNT, method, bytes: "", ...more });
    expect((await call({ bytes: "/////w==", multiplex_ids: ["a"] })).code).toBe("Internal");
    expect((await call({})).message).toContain("no multiplex_id");
    expect((await call({ multiplex_ids: [""] })).code).toBe("InvalidArgument");
    expect((await call({ multiplex_ids: ["a", "b"] })).message).toContain("more than one");
    expect((await call({ multiplex_ids: ["a"] })).code).toBe("NotFound");
    expect((await call({ method: "/pb.Backend/Nothing" })).code).toBe("Unimplemented");
    const megabyte = Buffer.alloc(MIB).toString("base64");
    const oversized = await call({ multiplex_ids: ["a"], bytes: megabyte, repeats: 65 });
    expect(oversized.code).toBe("ResourceExhausted");
    await estate.mint();
    expect(await pid()).toBe(before);
  });

  it("revokes a token that the host no longer waits for", async () => {
    const { codeHost } = estate.demo;
    const minted = codeHost.minted().length;
    const isGone = Promise.withResolvers<void>();
    codeHost.faults.next("mint", { kind: "hold", until: isGone.promise });
    // Long enough for the request to reach GitHub on a busy machine.
    const { error } = await estate.host.request(MOUNT, "update", "token", {
      data: { installation_id: estate.demo.installationId },
      timeout_ms: 4_000,
    });
    isGone.resolve();
    expect(error?.message).toContain("DeadlineExceeded");
    await expect.poll(() => codeHost.minted().length).toBe(minted + 1);
    await expect.poll(() => codeHost.minted().at(-1)?.revokedAtMs).toBeDefined();
  });

  it.each(["BAO", "VAULT"])("reads the variables of the host as %s spells them", async (name) => {
    await using other = await startPluginEstate({ env: [`${name}_PLUGIN_MLOCK_ENABLED=true`] });
    await expect.poll(() => other.host.log.join("\n")).toContain("lock their memory");
  });

  it("is not started when its file is another one than was registered", async () => {
    await expect(startPluginEstate({ sha256: "00".repeat(32) })).rejects.toThrow(/checksums/);
  });

  it("ends with a host that was killed under load, and serves the next one", async () => {
    const folder = mkdtempSync("/tmp/steward-host-");
    const first = await startPluginEstate({ folder });
    const orphan = first.mounted.pid;
    const mints = Array.from({ length: 16 }, () => first.mint());
    await first.host.kill();
    await Promise.allSettled(mints);
    await using second = await startPluginEstate({ folder });
    await second.mint();
    await expect.poll(() => isRunning(orphan)).toBe(false);
    expect(pluginSockets(folder)).toHaveLength(1);
    await first.demo.codeHost.stop();
    rmSync(folder, { recursive: true });
  });
});
