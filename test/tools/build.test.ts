import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanEnvironment, rest, watchStart } from "../contract/daemon.ts";
import { RUNS_SOURCES } from "../support/launcher.ts";
import { spawn } from "../support/spawn.ts";

const root = join(import.meta.dirname, "../..");

it.each(["bin/node", ...(RUNS_SOURCES ? [] : ["dist/bin/node"])])(
  "%s starts every process, and what it forks, so that none hangs at its end (nodejs/node#54918)",
  (path) => {
    const script =
      'const { fork } = require("node:child_process"); console.log(process.execArgv.join(" ")); if (process.send === undefined) fork(__filename);';
    const folder = mkdtempSync(join(tmpdir(), "steward-test-"));
    const file = join(folder, "script.cjs");
    writeFileSync(file, script);
    const flags = execFileSync(join(root, path), [file], { encoding: "utf8" });
    rmSync(folder, { recursive: true });
    expect(flags).toBe("--no-maglev-build-code-on-background\n".repeat(2));
  },
);

it.each([
  ["has the flag", "", "--no-maglev-build-code-on-background a.js b\n"],
  ["has no such flag any more", 'case "$1" in --no-*) exit 9 ;; esac', "a.js b\n"],
])("bin/node starts a Node of the PATH that %s", (_, refuses, started) => {
  const folder = mkdtempSync(join(tmpdir(), "steward-test-"));
  cpSync(join(root, "bin/node"), join(folder, "bin/node"));
  mkdirSync(join(folder, "node_modules/lmdb"), { recursive: true });
  const node = `#!/bin/sh\n${refuses}\nif [ "$1" = -p ]; then echo 27; else echo "$@"; fi\n`;
  mkdirSync(join(folder, "path"));
  writeFileSync(join(folder, "path/node"), node, { mode: 0o755 });
  const output = execFileSync(join(folder, "bin/node"), ["a.js", "b"], {
    encoding: "utf8",
    env: { PATH: `${join(folder, "path")}:/usr/bin:/bin` },
  });
  rmSync(folder, { recursive: true });
  expect(output).toBe(started);
});

describe.skipIf(RUNS_SOURCES)("the built tree, copied away from the clone", () => {
  const parent = mkdtempSync(join(tmpdir(), "steward-test-"));
  const copy = join(parent, "a b 100% c# what?");
  beforeAll(() => cpSync(join(root, "dist"), copy, { recursive: true }));
  afterAll(() => rmSync(parent, { recursive: true }));

  const run = (...args: string[]): string =>
    execFileSync(join(copy, "bin/steward"), args, {
      env: cleanEnvironment,
      cwd: parent,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });

  it("names the version and the commit it was built from", () => {
    expect(run("version")).toMatch(/^steward \d+\.\d+\.\d+\ncommit {2}[0-9a-f]{40}\n/);
  });

  it("holds no sources, types or manuals, and the licence of every package in it", () => {
    const files = readdirSync(copy, { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => /\.ts$|^node_modules\/.*\.(c|h|cpp|map|md)$/.test(file))).toEqual(
      [],
    );
    const licences = readFileSync(join(copy, "LICENSES-OF-PACKAGES.txt"), "utf8");
    for (const name of ["undici", "@bufbuild/protobuf", "pino", "preact", "yaml"])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
    expect(existsSync(join(copy, "LICENSE"))).toBe(true);
  });

  it("loads the web client inside Node with none of the daemon's modules", () => {
    const lib = join(copy, "lib");
    const [serve = ""] = readdirSync(lib).filter((file) => /^serve-[^.]+\.js$/.test(file));
    const script =
      "await import(process.argv[1]); console.log(process.moduleLoadList.filter((name) => /undici/.test(name)))";
    const loaded = execFileSync(
      join(copy, "bin/node"),
      ["--input-type=module", "--eval", script, pathToFileURL(join(lib, serve)).href],
      { env: cleanEnvironment, encoding: "utf8" },
    );
    expect(loaded).toBe("[]\n");
  });

  it("is what is installed: npm offers no command, since Node runs no TypeScript of a package", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
    expect(manifest).not.toHaveProperty("bin");
    expect(manifest).toMatchObject({ private: true });
  });

  it("runs the daemon: threads, stores, pages and pool tasks come from the copy alone", async () => {
    const state = join(parent, "state");
    const child = spawn(join(copy, "bin/steward"), ["-demo"], {
      env: {
        ...cleanEnvironment,
        STEWARD_STATE__DIRECTORY: state,
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        // Nobody listens there: the exporters load some modules only for a failure.
        STEWARD_OTLP__PROTOCOL: "grpc",
        STEWARD_OTLP__ENDPOINT: "127.0.0.1:1",
        STEWARD_OTLP__TIMEOUT: "100ms",
      },
      cwd: parent,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const daemon = await watchStart(child);
    try {
      await expect
        .poll(
          async () =>
            (await rest(daemon, "GET", "/api/v1/duplicates?limit=1")).json.meta?.total ?? 0,
        )
        .toBeGreaterThan(0);
      const page = await rest(daemon, "GET", "/");
      expect(page.status).toBe(200);
      const [script = ""] = /\/assets\/landing\.[^"]+\.js/.exec(page.text) ?? [];
      expect((await rest(daemon, "GET", script)).status).toBe(200);
      await expect
        .poll(
          async () => (await rest(daemon, "GET", "/api/status.json")).json?.devices?.length ?? 0,
        )
        .toBeGreaterThan(15);
    } finally {
      expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    }
    for (const signal of ["logs", "metrics"])
      expect(daemon.stderr.join("\n")).toContain(`${signal} export failed`);
  });
});
