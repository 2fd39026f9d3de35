import { describe, expect, it } from "vitest";
import { helpText } from "../../src/commands/help.ts";
import { daemonOptions, dedupOptions, folderOptions, rotateKeyOptions } from "../../src/commands/options.ts";
import { stewardVersion } from "../../src/commands/version.ts";

describe("the help", () => {
  it.each(["steward", "dedup", "backup", "check", "root-token", "rotate-key"] as const)("on %s fits 80 columns and shows examples", (topic) => {
    const lines = helpText(topic).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines).toContain("Examples:");
    expect(lines.at(-1)).toBe("");
  });

  it("names every option there is", () => {
    for (const name of Object.keys(daemonOptions)) expect(helpText("steward")).toMatch(new RegExp(`^ +-${name}( |$)`, "m"));
    for (const name of Object.keys(dedupOptions)) expect(helpText("dedup")).toContain(`  --${name} `);
    for (const topic of ["backup", "check", "root-token"] as const) for (const name of Object.keys(folderOptions)) expect(helpText(topic)).toContain(`  --${name} `);
    for (const name of Object.keys(rotateKeyOptions)) expect(helpText("rotate-key")).toContain(`  --${name} `);
  });

  it("states the ranges that are checked", () => {
    for (const { value } of Object.values(dedupOptions)) if (typeof value === "object" && "from" in value) expect(helpText("dedup")).toContain(`from ${value.from} to ${value.to}`);
  });
});

describe("the version", () => {
  it("is three numbers", () => {
    expect(stewardVersion()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
