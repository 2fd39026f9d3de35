import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

/** The room a file belongs to, from its path. */
function roomOf(path: string): string {
  const rooms: readonly [RegExp, string][] = [
    [/^src\/gen\//, "gen"],
    [/^src\/kernel\//, "kernel"],
    [/^src\/commands\//, "commands"],
    [/^src\/daemon\//, "daemon"],
    [/^src\/main\.ts$/, "main"],
    [/^src\/(dedup|tokens|monitor|demo)\//, ""],
    [/^gateway\//, "gateway"],
    [/^workers\//, "workers"],
  ];
  for (const [pattern, room] of rooms)
    if (pattern.test(path)) return room || (pattern.exec(path)?.[1] ?? "");
  return "outside";
}

/** Who may import whom (DESIGN.md). A room may always import itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  main: ["commands", "daemon", "kernel"],
  commands: ["daemon", "dedup", "tokens", "monitor", "gateway", "kernel", "gen"],
  daemon: ["dedup", "tokens", "monitor", "demo", "gateway", "kernel", "gen"],
  dedup: ["kernel", "gen", "workers"],
  tokens: ["kernel", "gen", "workers"],
  monitor: ["kernel", "gen", "workers"],
  demo: ["kernel", "gen"],
  gateway: ["kernel", "gen"],
  kernel: ["gen"],
  gen: [],
  workers: [],
};

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`);
}

const files = ["src", "workers", "gateway"].flatMap(sources);
const authored = files.filter((file) => !file.startsWith("src/gen/"));

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = [
    ...text.matchAll(/(?:from\s+|import\s*\(\s*|import\s+|new URL\(\s*)"(\.[^"]+)"/g),
  ].map((match) => match[1] ?? "");
  return found.map((path) => relative(root, resolve(root, dirname(file), path)));
}

describe("the rooms of the house", () => {
  it("import in one direction only", () => {
    const wrong = authored.flatMap((file) =>
      importsOf(file)
        .filter((target) => {
          const from = roomOf(file);
          const to = roomOf(target);
          return from !== to && !(allowed[from] ?? []).includes(to);
        })
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("keep the services apart", () => {
    for (const service of ["dedup", "tokens", "monitor"])
      for (const other of ["dedup", "tokens", "monitor", "gateway"])
        if (other !== service) expect(allowed[service]).not.toContain(other);
  });
});

describe("every file", () => {
  it("says at its head what it owns", () => {
    expect(
      authored.filter((file) => !readFileSync(join(root, file), "utf8").startsWith("/**")),
    ).toEqual([]);
  });

  it("holds one idea: no more than 520 lines", () => {
    expect(
      authored.filter((file) => readFileSync(join(root, file), "utf8").split("\n").length > 520),
    ).toEqual([]);
  });

  it("takes time, randomness and output from where they are passed in", () => {
    const banned: readonly [RegExp, string, RegExp][] = [
      [/\bDate\.now\(|\bnew Date\(\)/, "the clock", /^src\/kernel\/base\/clock\.ts$/],
      [/\bMath\.random\(/, "the ids", /^$/],
      [/\bconsole\./, "the log", /^$/],
      [/\bprocess\.exit\(/, "an exit code", /^src\/main\.ts$/],
      [/\bas any\b|@ts-(ignore|nocheck|expect-error)/, "types", /^$/],
    ];
    const wrong = authored.flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8").replaceAll(
        /\/\*[\s\S]*?\*\/|\/\/.*$/gm,
        "",
      );
      return banned
        .filter(([pattern, , except]) => pattern.test(text) && !except.test(file))
        .map(([, instead]) => `${file}: take ${instead} that is passed in`);
    });
    expect(wrong).toEqual([]);
  });
});

describe("the packages", () => {
  it("are pinned exactly", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
      string,
      Record<string, string>
    >;
    const versions = ["dependencies", "devDependencies", "optionalDependencies"].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {}),
    );
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});
