import { beforeEach, describe, expect, it } from "vitest";
import { createLog, type Log } from "../../../src/kernel/base/log.ts";
import { defineKey, defineSchema, type Key } from "../../../src/kernel/config/key.ts";
import { loadConfig } from "../../../src/kernel/config/load.ts";
import { mapOfSecrets } from "../../../src/kernel/config/values/maps.ts";
import {
  boolean,
  duration,
  integer,
  listOf,
  oneOf,
  string,
} from "../../../src/kernel/config/values/types.ts";
import { createSettings } from "../../../src/kernel/settings/settings.ts";
import { settingsTable } from "../../../src/kernel/settings/table.ts";
import type { Settings, SettingsCheck } from "../../../src/kernel/settings/types.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { openEnv, temporaryFolder } from "../state/fixtures/tables.ts";

const help = "A key.";
const owner = "runtime";
const jaccard: Key<number> = defineKey({
  path: "dedup.weights.jaccard",
  type: integer(0, 100),
  default: 60,
  owner,
  help,
});
const fuzzy: Key<number> = defineKey({
  path: "dedup.weights.fuzzy",
  type: integer(0, 100),
  default: 40,
  owner,
  help,
});
const retain: Key<number> = defineKey({
  path: "dedup.retain",
  type: duration,
  default: 60_000,
  owner,
  help,
  rule: (ms) => (ms > 3_600_000 ? { rule: "must be at most 1h", remedy: "write 1h." } : undefined),
});
const mode: Key<"replace" | "merge"> = defineKey({
  path: "dedup.tag_mode",
  type: oneOf(["merge", "replace"]),
  default: "merge",
  owner,
  help,
});
const tags: Key<readonly string[]> = defineKey({
  path: "dedup.tags",
  type: listOf(string),
  default: [],
  owner,
  help,
});
const on: Key<boolean> = defineKey({
  path: "other.on",
  type: boolean,
  default: false,
  owner,
  help,
});
const folder: Key<string> = defineKey({
  path: "dedup.folder",
  type: string,
  default: "/srv",
  help,
});
const schema = defineSchema([jaccard, fuzzy, retain, mode, tags, on, folder]);
const sum: SettingsCheck = {
  scope: "dedup.weights",
  run: (get) =>
    get(jaccard) + get(fuzzy) === 100
      ? []
      : [
          {
            key: jaccard,
            rule: `must sum to 100 with fuzzy, the sum is ${get(jaccard) + get(fuzzy)}`,
          },
        ],
};

let directory: string;
let env: Env;
let lines: string[];
let log: Log;

beforeEach(async () => {
  directory = temporaryFolder();
  lines = [];
  log = createLog({
    level: "debug",
    format: "text",
    now: () => 0,
    write: (line) => lines.push(line),
  });
  env = await openEnv(directory, { tables: [settingsTable] });
});

function open(environment: Record<string, string> = {}, keys = schema): Settings {
  const { config } = loadConfig({ environment, schema: keys, readFile: () => "" });
  if (config === undefined) throw new Error("the test's configuration is sound");
  return createSettings({ env, config, log }, { schema: keys, checks: [sum] });
}

describe("settings", () => {
  it("are the configuration's until something is changed", () => {
    const settings = open();
    expect(settings.get(jaccard)).toBe(60);
    expect(settings.all("dedup")).toEqual({
      "weights.jaccard": 60,
      "weights.fuzzy": 40,
      retain: 60_000,
      tag_mode: "merge",
      tags: [],
    });
    expect(settings.all("dedup.weights")).toEqual({ jaccard: 60, fuzzy: 40 });
  });

  it("change as the file's keys would, and survive", async () => {
    const settings = open();
    expect(
      await settings.change("dedup", { retain: "5m", tags: ["a", "b,c"], tag_mode: "replace" }),
    ).toEqual({ changed: ["retain", "tag_mode", "tags"], ignored: [] });
    expect([settings.get(retain), settings.get(tags), settings.get(mode)]).toEqual([
      300_000,
      ["a", "b,c"],
      "replace",
    ]);
    await env.close();
    env = await openEnv(directory, { tables: [settingsTable] });
    const again = open();
    expect([again.get(retain), again.get(tags), again.get(mode)]).toEqual([
      300_000,
      ["a", "b,c"],
      "replace",
    ]);
  });

  it("name as changed only what is another value now", async () => {
    const settings = open();
    expect(await settings.change("dedup", { retain: "60s", tag_mode: "replace" })).toEqual({
      changed: ["tag_mode"],
      ignored: [],
    });
    expect(await settings.change("dedup", { tag_mode: "replace" })).toEqual({
      changed: [],
      ignored: [],
    });
  });

  it("go back to the default with null", async () => {
    const settings = open();
    await settings.change("dedup", { retain: "5m" });
    expect(await settings.change("dedup", { retain: null })).toEqual({
      changed: ["retain"],
      ignored: [],
    });
    expect(settings.get(retain)).toBe(60_000);
    expect(env.read((snapshot) => snapshot.count(settingsTable))).toBe(0);
  });

  it("stand below the file and the environment, which no change reaches", async () => {
    await open().change("dedup", { retain: "5m" });
    const settings = open({ STEWARD_DEDUP__RETAIN: "2m" });
    expect([settings.get(retain), settings.pinned(retain), settings.pinned(mode)]).toEqual([
      120_000,
      true,
      false,
    ]);
    expect(
      await settings.change("dedup", { retain: "9m", folder: "/mine", tag_mode: "replace" }),
    ).toEqual({ changed: ["tag_mode"], ignored: ["folder", "retain"] });
    expect(settings.get(retain)).toBe(120_000);
    expect(open().get(retain)).toBe(300_000);
  });
});

describe("a wrong change", () => {
  it("is refused whole with every problem", async () => {
    const settings = open();
    const error = await settings
      .change("dedup", {
        retian: 1,
        retain: "2h",
        tag_mode: "both",
        tags: [{}],
        "weights.fuzzy": 4.5,
      })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "invalid",
      details: [
        {
          path: ["retian"],
          message: "retian is not a known setting, did you mean retain?",
          code: "unknown_field",
        },
        { path: ["retain"], message: "retain must be at most 1h; write 1h." },
        { path: ["tag_mode"], message: 'tag_mode must be one of merge, replace, got "both"' },
        { path: ["tags"], message: "tags must be a list of text" },
        {
          path: ["weights.fuzzy"],
          message: expect.stringContaining("a whole number from 0 to 100") as string,
        },
      ],
    });
    expect(settings.all("dedup")).toMatchObject({ retain: 60_000, tag_mode: "merge" });
  });

  it("is judged on the whole as it would be", async () => {
    const settings = open();
    await expect(settings.change("dedup.weights", { jaccard: 70 })).rejects.toMatchObject({
      code: "invalid",
      message: "jaccard must sum to 100 with fuzzy, the sum is 110",
    });
    expect(settings.get(jaccard)).toBe(60);
    await settings.change("dedup.weights", { jaccard: 70, fuzzy: 30 });
    expect([settings.get(jaccard), settings.get(fuzzy)]).toEqual([70, 30]);
  });

  it("is still refused when it only became wrong by a change that came first", async () => {
    const settings = open();
    const [first, second] = await Promise.allSettled([
      settings.change("dedup.weights", { jaccard: 70, fuzzy: 30 }),
      settings.change("dedup.weights", { jaccard: 60 }),
    ]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    expect(settings.get(jaccard)).toBe(70);
  });
});

describe("who watches", () => {
  it("hears of durable changes below its scope, and of nothing else", async () => {
    const settings = open();
    const heard: unknown[] = [];
    using _watch = settings.watch(
      "dedup",
      (changed) =>
        void heard.push([
          changed,
          settings.get(jaccard),
          env.read((snapshot) => snapshot.get(settingsTable, jaccard.path)),
        ]),
    );
    await settings.change("other", { on: true });
    await settings.change("dedup.weights", { jaccard: 90, fuzzy: 10 });
    await settings
      .change("dedup", { retain: "5m" })
      .then(() => settings.change("dedup", { retain: "5m" }));
    expect(heard).toEqual([
      [["weights.fuzzy", "weights.jaccard"], 90, 90],
      [["retain"], 90, 90],
    ]);
  });

  it("is not heard after it stopped, and does no harm when it fails", async () => {
    const settings = open();
    const heard: unknown[] = [];
    settings.watch("dedup", () => {
      throw new Error("careless");
    });
    const watch = settings.watch("dedup", (changed) => void heard.push(changed));
    await settings.change("dedup", { retain: "5m" });
    watch[Symbol.dispose]();
    await settings.change("dedup", { retain: "6m" });
    expect(heard).toEqual([["retain"]]);
    expect(lines.join("")).toContain("a watcher of settings failed");
  });
});

describe("what is stored", () => {
  it("counts as not set where this version does not accept it, and stays", async () => {
    await env.write((tx) => {
      tx.put(settingsTable, retain.path, "2h");
      tx.put(settingsTable, "dedup.of_another_version", true);
    });
    const settings = open();
    expect(settings.get(retain)).toBe(60_000);
    expect(lines.join("")).toMatch(/is invalid and is ignored.*setting=dedup\.retain/);
    await settings.change("dedup", { tag_mode: "replace" });
    expect(env.read((snapshot) => snapshot.count(settingsTable))).toBe(3);
  });

  it("is never a secret, a map or a list of objects", () => {
    const headers = defineKey({
      path: "dedup.headers",
      type: mapOfSecrets({ limit: 1 }),
      default: new Map(),
      owner,
      help,
    });
    expect(() => open({}, defineSchema([headers]))).toThrow(
      "dedup.headers can be changed while the process runs",
    );
  });

  it("is damage when it is no setting at all", async () => {
    expect(() => settingsTable.value.read(Buffer.from("{}"))).toThrow("a stored setting should be");
  });
});
