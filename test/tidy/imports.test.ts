import { join } from "node:path";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { authored, codeOf, importsOf, root, textOf, urlsOf } from "./sources.ts";

/** The part of the process that a file belongs to, from its path. */
function partOf(path: string): string {
  const parts: readonly [RegExp, string][] = [
    [/^src\/gen\//, "gen"],
    [/^src\/kernel\//, "kernel"],
    [/^src\/commands\//, "commands"],
    [/^src\/daemon\//, "daemon"],
    [/^src\/(plugin-)?main\.ts$/, "main"],
    [/^src\/(dedup|tokens|monitor|demo|profiling|updates)\//, ""],
    [/^gateway\//, "gateway"],
    [/^workers\//, "workers"],
  ];
  for (const [pattern, part] of parts)
    if (pattern.test(path)) return part || (pattern.exec(path)?.[1] ?? "");
  return "outside";
}

/** Who may import whom (docs/architecture/README.md, "Folders"). A part may always import itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  main: ["commands", "daemon", "tokens", "kernel"],
  commands: ["daemon", "dedup", "tokens", "monitor", "gateway", "kernel", "gen"],
  daemon: [
    "dedup",
    "tokens",
    "monitor",
    "demo",
    "profiling",
    "updates",
    "gateway",
    "kernel",
    "gen",
  ],
  dedup: ["kernel", "gen", "workers"],
  tokens: ["kernel", "gen", "workers"],
  monitor: ["kernel", "gen", "workers"],
  demo: ["kernel", "gen"],
  profiling: ["kernel", "gen"],
  updates: ["kernel"],
  gateway: ["kernel", "gen"],
  kernel: ["gen"],
  gen: [],
  workers: [],
};

describe("the parts of the process", () => {
  it("import in one direction only", () => {
    const wrong = authored.flatMap((file) =>
      [...importsOf(file), ...urlsOf(file)]
        .filter((target) => {
          const from = partOf(file);
          const to = partOf(target);
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

describe("the folders of kernel/state", () => {
  /** docs/architecture/state.md; each may use those before it. */
  const layers = ["codec", "folder", "file", "rows", "writes", "backups", "environment"];
  const layerOf = (file: string): string | undefined =>
    /^src\/kernel\/state\/([^/]+)\//.exec(file)?.[1];
  const inside = authored.filter((file) => layerOf(file) !== undefined);

  it("are the layers that the page names", () => {
    expect(new Set(inside.map(layerOf))).toEqual(new Set(layers));
  });

  it("use only those before them", () => {
    const wrong = inside.flatMap((file) =>
      importsOf(file)
        .filter((target) => {
          const layer = layerOf(target);
          return layer !== undefined && layers.indexOf(layer) > layers.indexOf(layerOf(file) ?? "");
        })
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("every file", () => {
  it("says at its head what it owns", () => {
    expect(authored.filter((file) => !textOf(file).startsWith("/**"))).toEqual([]);
  });

  it("holds one idea: no more than 520 lines", () => {
    expect(authored.filter((file) => textOf(file).split("\n").length > 520)).toEqual([]);
  });

  it("takes time, randomness and output from where they are passed in", () => {
    const banned: readonly [RegExp, string, RegExp][] = [
      [
        /\bDate\.now\b|\bnew Date\(\)/,
        "the clock",
        /^(src\/kernel\/base|gateway\/web\/browser)\/clock\.ts$/,
      ],
      [/\bMath\.random\(/, "the ids", /^$/],
      [/\bconsole\./, "the log", /^$/],
      [
        /\bprocess\.exit\(/,
        "an exit code",
        /^src\/((plugin-)?main|kernel\/pool\/process-runner)\.ts$/,
      ],
      [/\bas any\b|@ts-(ignore|nocheck|expect-error)/, "types", /^$/],
    ];
    const wrong = authored.flatMap((file) => {
      const text = codeOf(file);
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
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual(
      [],
    );
  });
});
