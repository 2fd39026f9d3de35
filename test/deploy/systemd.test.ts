import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { daemonSchema } from "../../src/daemon/configuration.ts";
import { variableOf } from "../../src/kernel/config/key.ts";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { MIN_STOP_SECONDS } from "./stop-time.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "deploy/systemd");
const INSTALLED = "/opt/steward";
const DROP_INS = ["archives.conf", "credentials.conf", "folders.conf"];

const SYSTEMD_OF: Readonly<Record<string, number>> = {
  "Debian 11": 247,
  "Debian 12": 252,
  "Ubuntu 22.04": 249,
  "Ubuntu 24.04": 255,
};

type Unit = Readonly<Record<string, readonly (readonly [name: string, value: string])[]>>;

/**
 * Sections with their assignments in order, as systemd.syntax(7) has them; what it does not know
 * throws.
 */
function parseUnit(text: string): Unit {
  const unit: Record<string, [string, string][]> = {};
  let section: [string, string][] | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || /^[#;]/.test(line)) continue;
    const head = /^\[(\w+)\]$/.exec(line)?.[1];
    const assignment = /^([A-Z]\w*)=(.*)$/.exec(line);
    if (head !== undefined) section = unit[head] ??= [];
    else if (assignment !== null && section !== undefined)
      section.push([assignment[1] ?? "", assignment[2] ?? ""]);
    else throw new Error(`line ${index + 1} is no assignment: ${line}`);
  }
  return unit;
}

function read(name: string): Unit {
  return parseUnit(readFileSync(join(folder, name), "utf8"));
}

function all(unit: Unit, name: string): string[] {
  return (unit["Service"] ?? []).flatMap(([key, value]) => (key === name ? [value] : []));
}

/** `5min`, `45s`. */
function seconds(value: string | undefined): number {
  const [, count = "", unit = ""] = /^(\d+)(s|min)$/.exec(value ?? "") ?? [];
  return Number(count) * (unit === "min" ? 60 : 1);
}

/** A copy whose program and drop-ins are where systemd-analyze looks for them. */
function placed(dropIns: readonly string[]): string {
  const into = temporaryFolder();
  const unit = readFileSync(join(folder, "steward.service"), "utf8").replaceAll(INSTALLED, root);
  mkdirSync(join(into, "steward.service.d"));
  writeFileSync(join(into, "steward.service"), unit);
  for (const name of dropIns)
    writeFileSync(join(into, "steward.service.d", name), readFileSync(join(folder, name)));
  return join(into, "steward.service");
}

/** Absolute values of `directory` and `file_path` in the page's examples: all that Steward writes. */
function writtenPaths(page: string): string[] {
  const paths: string[] = [];
  for (const [, block = ""] of page.matchAll(/^```yaml\n([^]*?)^```$/gm))
    JSON.stringify(parse(block), (key, value: unknown) => {
      if (/^(directory|file_path)$/.test(key) && typeof value === "string" && value.startsWith("/"))
        paths.push(value);
      return value;
    });
  return paths;
}

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

afterAll(removeTemporaryFolders);

describe("steward.service", () => {
  const unit = read("steward.service");
  const one = (name: string): string | undefined => all(unit, name).at(-1);

  it("has its sections, and each setting once but for lists", () => {
    expect(Object.keys(unit)).toEqual(["Unit", "Service", "Install"]);
    const names = (unit["Service"] ?? []).map(([name]) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual(["SystemCallFilter"]);
  });

  it("waits until the daemon says that it serves, and hears it from its child", () => {
    expect([one("Type"), one("NotifyAccess"), one("WatchdogSec")]).toEqual([
      "notify",
      "all",
      "30s",
    ]);
  });

  it("gives the daemon more time to stop than that takes for itself", () => {
    expect(seconds(one("TimeoutStopSec"))).toBeGreaterThanOrEqual(MIN_STOP_SECONDS);
    expect(seconds(one("TimeoutStartSec"))).toBeGreaterThan(60);
  });

  it("starts the launcher on the configuration that it hands over", () => {
    const [name, source] = one("LoadCredential")?.split(":") ?? [];
    expect(source).toMatch(/^\/etc\/steward\//);
    expect(one("ExecStart")).toBe(
      `${INSTALLED}/bin/steward -config \${CREDENTIALS_DIRECTORY}/${name}`,
    );
  });

  it("keeps state in a folder of its own that nobody else reads, and writes nowhere else", () => {
    expect([
      one("StateDirectory"),
      one("StateDirectoryMode"),
      one("UMask"),
      one("DynamicUser"),
      one("ProtectSystem"),
    ]).toEqual(["steward", "0700", "0077", "yes", "strict"]);
    expect(one("ReadWritePaths")).toBeUndefined();
  });

  it("leaves V8 its compiled code, and takes every privilege", () => {
    expect(one("MemoryDenyWriteExecute")).toBe("no");
    expect([
      one("NoNewPrivileges"),
      one("CapabilityBoundingSet"),
      one("AmbientCapabilities"),
    ]).toEqual(["yes", "", ""]);
  });

  it.skipIf(!hasSystemd)(
    "is sound in the eyes of systemd, alone and with its drop-ins (skipped without systemd-analyze)",
    () => {
      for (const dropIns of [[], DROP_INS]) {
        const { status, stdout, stderr } = spawnSync(
          "systemd-analyze",
          ["verify", "--man=no", placed(dropIns)],
          { encoding: "utf8" },
        );
        // An unknown setting is only a warning there: anything said is a fault.
        expect([status, stdout, stderr]).toEqual([0, "", ""]);
      }
    },
  );

  it.skipIf(!hasSystemd)(
    "exposes little: at most 2.0 of 10 (skipped without systemd-analyze)",
    () => {
      const { status, stdout } = spawnSync(
        "systemd-analyze",
        ["security", "--offline=true", "--threshold=20", placed([])],
        { encoding: "utf8" },
      );
      expect([status, /Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]]).toEqual([
        0,
        expect.stringMatching(/^[01]\.\d$/) as string,
      ]);
    },
  );
});

describe("the drop-ins", () => {
  it("are known to this test, and touch only the service", () => {
    expect(readdirSync(folder).sort()).toEqual([...DROP_INS, "steward.service"]);
    for (const name of DROP_INS) expect(Object.keys(read(name))).toEqual(["Service"]);
  });

  it("let Steward write every folder outside its state that docs/examples.md names", () => {
    const state = `/var/lib/${all(read("steward.service"), "StateDirectory").at(-1)}`;
    const written = all(read("folders.conf"), "ReadWritePaths").map((path) =>
      path.replace(/^-/, ""),
    );
    const named = writtenPaths(readFileSync(join(root, "docs/examples.md"), "utf8"));
    expect(named).toContain(state);
    const readOnly = named.filter(
      (path) => ![state, ...written].some((folder) => `${path}/`.startsWith(`${folder}/`)),
    );
    expect(readOnly).toEqual([]);
  });

  it("that allow a folder are explained with every key that may name one", () => {
    const page = readFileSync(join(root, "docs/systemd.md"), "utf8");
    const [, section = ""] = /^## Folders outside the state\n([^]*?)^## /m.exec(page) ?? [];
    const keys = daemonSchema
      .map(({ path }) => path)
      .filter((path) => /\.directory$|^checkpoint\.file_path$/.test(path));
    for (const key of [...keys, "tokens.audit[].file_path"])
      if (key !== "state.directory") expect(section).toContain(`\`${key}\``);
    for (const path of all(read("folders.conf"), "ReadWritePaths"))
      expect(section).toContain(`\nReadWritePaths=${path}\n`);
  });

  it("make no folder necessary for a start: a missing one would stop Steward", () => {
    for (const path of all(read("folders.conf"), "ReadWritePaths")) expect(path).toMatch(/^-\//);
  });

  it("name in each variable a key of the configuration, and a credential that is loaded", () => {
    const unit = read("credentials.conf");
    const files = daemonSchema.flatMap((key) =>
      key.secret === true
        ? [`${variableOf(key.path)}_FILE`]
        : key.path.endsWith("_file")
          ? [variableOf(key.path)]
          : [],
    );
    const loaded = all(unit, "LoadCredential").map((line) => line.split(":")[0]);
    const variables = all(unit, "Environment").map(
      (line) => /^(\w+)=%d\/(\S+)$/.exec(line)?.slice(1) ?? [line],
    );
    // The key of the store of tokens is found by its name, without a variable.
    expect(new Set([...variables.map(([, credential]) => credential), "tokens.key"])).toEqual(
      new Set(loaded),
    );
    for (const [variable] of variables) expect(files).toContain(variable);
  });
});

describe("the version of systemd", () => {
  const head = readFileSync(join(folder, "steward.service"), "utf8").split("\n", 1)[0] ?? "";
  const needed = Number(/systemd \((\d+) or newer\)/.exec(head)?.[1]);

  it("that the unit needs is the one that the Debian package recommends", () => {
    const recommended = /"systemd \(>= (\d+)\)/.exec(
      readFileSync(join(root, "tools/release/debian.ts"), "utf8"),
    )?.[1];
    expect(Number(recommended)).toBe(needed);
  });

  it("is in every release that docs/install.md promises", () => {
    const page = readFileSync(join(root, "docs/install.md"), "utf8");
    const [, list = ""] = /^## Debian and Ubuntu\n\n(.+) or newer:$/m.exec(page) ?? [];
    expect(list).not.toBe("");
    for (const release of list.split(", "))
      expect(SYSTEMD_OF[release] ?? 0, release).toBeGreaterThanOrEqual(needed);
  });

  it("has the options that the rotation of the audit file uses", () => {
    const rotation = readFileSync(join(root, "deploy/debian/logrotate"), "utf8");
    // Systemd 252 renamed it to --kill-whom and accepts both.
    expect(rotation).toContain("systemctl kill --kill-who=main --signal=HUP steward.service");
  });
});

describe("the parser of this test", () => {
  it("refuses what systemd would pass over", () => {
    expect(() => parseUnit("[Service]\nType notify\n")).toThrow("line 2");
    expect(() => parseUnit("Type=notify\n")).toThrow("line 1");
  });
});
