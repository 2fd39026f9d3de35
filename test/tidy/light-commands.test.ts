/**
 * Commands that ask a running daemon, and `steward dedup` without a state folder, start in a fraction
 * of a second: they load no part of a daemon.
 */
import { expect, it } from "vitest";
import { authored, codeOf, loadsOf } from "./sources.ts";

const heavy =
  /^(?:gateway\/(?!config\.ts)[^/]+\.ts|src\/kernel\/(?:state\/file|telemetry\/thread|listen\/listener)|src\/daemon\/(?:listeners|services)\/)/;
const commands = [
  ...authored.filter((file) => file.startsWith("src/commands/remote/")),
  "src/commands/healthcheck.ts",
  "src/commands/dedup/dedup.ts",
];

it.each(commands)("%s loads neither the store nor the gateway", (command) => {
  // Each module with the one that loads it.
  const loaders = new Map([[command, ""]]);
  for (const file of loaders.keys())
    for (const target of loadsOf(file)) if (!loaders.has(target)) loaders.set(target, file);
  const chainOf = (file: string): string[] =>
    file === "" ? [] : [...chainOf(loaders.get(file) ?? ""), file];
  expect([...loaders.keys()].filter((file) => heavy.test(file)).map(chainOf)).toEqual([]);
  expect([...loaders.keys()].filter((file) => /from "lmdb"/.test(codeOf(file)))).toEqual([]);
});
