import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  analysesEnd,
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

afterAll(removeTemporaryFolders);

function settings(): { state: string; config: string } {
  const state = temporaryFolder();
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  return { state, config: folderConfig(state, folder) };
}

describe("the daemon", () => {
  it("prints its address as the first and only line on stdout and ends 0 on SIGTERM and on SIGINT", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const daemon = await startDaemon({ config: settings().config });
      expect(daemon.stdout[0]).toMatch(/^steward listening on http:\/\/127\.0\.0\.1:\d+$/);
      expect((await rest(daemon, "GET", "/healthz")).text.trim()).toBe("ok");
      expect(await daemon.stop(signal)).toEqual({ code: 0, signal: null });
      expect(daemon.stdout).toHaveLength(1);
    }
  });

  it("stops the gateway first, then what makes work, the jobs, tokens, and telemetry last", async () => {
    const archive = temporaryFolder();
    writeFiles(archive, smallArchive);
    const daemon = await startDaemon({
      config: `gateway: {listen: "127.0.0.1:0"}
admin: {listen: "127.0.0.1:0"}
state: {directory: ${temporaryFolder()}}
logging: {level: debug, format: json}
dedup: {archives: [{name: papers, kind: folder, path: ${archive}}]}
`,
    });
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    const stopped = daemon.stderr
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === "component stopped")
      .map(({ name }) => name);
    const named = ["gateway", "admin", "monitor", "dedup", "tokens", "pool", "telemetry"];
    expect(stopped.filter((name) => named.includes(name))).toEqual(named);
  });

  it("starts again on the same state folder and still knows its documents", async () => {
    const { config } = settings();
    const first = await startDaemon({ config });
    const started = await rest(first, "POST", "/api/v1/sync");
    await (await fetch(`${first.url}/api/v1/jobs/${started.json.data.jobId}/progress`)).text();
    // The analysis that follows changes the documents.
    await analysesEnd(first);
    const before = await rest(first, "GET", "/api/v1/documents");
    await first.stop();
    const second = await startDaemon({ config });
    expect((await rest(second, "GET", "/api/v1/documents")).json).toEqual(before.json);
    await second.stop();
  });

  it("refuses a state folder that another Steward holds, naming the folder and the holder", async () => {
    const { state, config } = settings();
    const first = await startDaemon({ config });
    await expect(startDaemon({ config })).rejects.toThrow(
      new RegExp(`ended with 1[\\s\\S]*${state}[\\s\\S]*${first.pid}`),
    );
    await first.stop();
  });

  it("says which port is in use and what to do", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => blocker.once("listening", resolve));
    const { port } = blocker.address() as AddressInfo;
    const config = settings().config.replace("127.0.0.1:0", `127.0.0.1:${port}`);
    const failed = startDaemon({ config });
    await expect(failed).rejects.toThrow(
      new RegExp(`ended with 1[\\s\\S]*${port}[\\s\\S]*gateway\\.listen`),
    );
    // The root token is shown once, so not by a start that fails.
    await expect(failed).rejects.not.toThrow(/root token/);
    blocker.close();
    const daemon = await startDaemon({
      config: config.replace(`127.0.0.1:${port}`, "127.0.0.1:0"),
    });
    expect(daemon.stderr.join("\n")).toMatch(
      /root token of the Vault API, shown only once and not stored: hvs\.\S+/,
    );
    await daemon.stop();
  });

  it("reads the user's file when nobody names one, says so, and so do the commands on its state", async () => {
    const { state, config } = settings();
    const home = temporaryFolder();
    mkdirSync(join(home, "steward"));
    const file = join(home, "steward", "steward.yaml");
    writeFileSync(file, config, { mode: 0o600 });
    const daemon = await startDaemon({ env: { XDG_CONFIG_HOME: home } });
    expect(daemon.stderr.join("\n")).toContain(`configuration file=${file}`);
    expect(daemon.stderr.join("\n")).not.toContain("this is a demo");
    expect((await rest(daemon, "GET", "/api/v1/health")).json).not.toMatchObject({ demo: true });
    await daemon.stop();
    expect(await runSteward(["check"], { env: { XDG_CONFIG_HOME: home } })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(state) as string,
    });
    writeFileSync(file, "gateway: [");
    await expect(startDaemon({ env: { XDG_CONFIG_HOME: home } })).rejects.toThrow(
      /ended with 1[\s\S]*steward\.yaml: is not valid YAML/,
    );
  });

  it("refuses to listen beyond loopback without a token", async () => {
    const config = settings().config.replace("127.0.0.1:0", "0.0.0.0:0");
    await expect(startDaemon({ config })).rejects.toThrow(/ended with 1[\s\S]*auth\.token/);
  });

  it("names every wrong key of the configuration with its line and the nearest right one", async () => {
    const config = `${settings().config}gatway:\n  listen: x\nlogging:\n  level: loud\n`;
    await expect(startDaemon({ config })).rejects.toThrow(
      /gatway[\s\S]*gateway[\s\S]*logging\.level|logging\.level[\s\S]*gatway[\s\S]*gateway/,
    );
  });

  it("is the demo when nothing is configured, says so, and shows groups by itself", async () => {
    const home = temporaryFolder();
    const daemon = await startDaemon({
      env: { XDG_STATE_HOME: home, STEWARD_DEMO: "true", STEWARD_GATEWAY__LISTEN: "127.0.0.1:0" },
    });
    expect(daemon.stderr.join("\n")).toMatch(/demo/i);
    expect((await rest(daemon, "GET", "/api/v1/health")).json.data).toMatchObject({
      status: "ok",
      demo: true,
    });
    await expect
      .poll(async () => (await rest(daemon, "GET", "/api/v1/duplicates")).json.data.length)
      .toBeGreaterThan(10);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });
});

describe("the launcher", () => {
  it("prints its version and its help from any folder", async () => {
    expect((await runSteward(["-version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const help = await runSteward(["--help"], { cwd: "/" });
    expect(help.code).toBe(0);
    expect(help.stdout).toMatch(/steward dedup/);
    expect(help.stdout.split("\n").every((line) => line.length <= 80)).toBe(true);
  });

  it("ends 2 on a wrong flag and names the nearest", async () => {
    const result = await runSteward(["--verson"]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/--verson[\s\S]*version/);
    expect(result.stdout).toBe("");
  });
});
