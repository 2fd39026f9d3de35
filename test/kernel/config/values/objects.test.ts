import { describe, expect, it } from "vitest";
import type { Fields } from "../../../../src/kernel/config/values/fields.ts";
import { writtenName } from "../../../../src/kernel/config/values/fields.ts";
import { formatFinding } from "../../../../src/kernel/config/findings.ts";
import { defineKey, defineSchema, type Key } from "../../../../src/kernel/config/key.ts";
import {
  defineKeyGroup,
  keysOf,
  readKeyGroup,
  type KeyGroup,
} from "../../../../src/kernel/config/key-group.ts";
import { loadConfig, type LoadResult } from "../../../../src/kernel/config/load.ts";
import { mapOfTexts } from "../../../../src/kernel/config/values/maps.ts";
import { groupOfFields, listOfObjects } from "../../../../src/kernel/config/values/objects.ts";
import {
  byteCount,
  duration,
  integer,
  string,
} from "../../../../src/kernel/config/values/types.ts";

const help = "A key.";

interface Inner {
  readonly waitMs: number;
  readonly maxSize: number | undefined;
}
interface Outer {
  readonly name: string;
  readonly inner: Inner;
  readonly labels: ReadonlyMap<string, string>;
}

const inner: Fields<Inner> = {
  waitMs: { type: duration, default: 1_000, help },
  maxSize: { type: byteCount(1, 2048), optional: true, help },
};
const list: Key<readonly Outer[]> = defineKey({
  path: "list",
  default: [],
  help,
  type: listOfObjects<Outer>({
    limit: 3,
    fields: {
      name: { type: string, help },
      labels: { type: mapOfTexts({ limit: 2 }), default: new Map(), help },
      inner: {
        type: groupOfFields<Inner>({
          fields: inner,
          rule: ({ waitMs, maxSize }) =>
            waitMs === 0 && maxSize === undefined
              ? { field: "maxSize", rule: "is needed without a wait" }
              : undefined,
        }),
        help,
      },
    },
  }),
});
const section: KeyGroup<Inner & { readonly tries: number }> = defineKeyGroup<
  Inner & { readonly tries: number }
>("a.section", {
  ...inner,
  tries: {
    type: integer(0, 9),
    default: 4,
    as: "max_tries",
    rule: (tries) => (tries === 5 ? { rule: "must not be 5" } : undefined),
    warn: (tries) => (tries === 9 ? { rule: "is many" } : undefined),
    help,
  },
});
const schema = defineSchema([list], keysOf(section));

const load = (yaml: string): LoadResult =>
  loadConfig({ file: "f.yaml", environment: {}, schema, readFile: () => yaml });
const problems = (yaml: string): string[] => load(yaml).findings.map(formatFinding);

describe("an object inside an object", () => {
  it.each(["", ", inner: ", ", inner: {}"])(
    "left out or empty has its own defaults: %j",
    (written) => {
      expect(load(`list: [{name: a${written}}]`).config?.get(list)).toEqual([
        { name: "a", labels: new Map(), inner: { waitMs: 1_000, maxSize: undefined } },
      ]);
    },
  );

  it("is read field by field, maps too", () => {
    const { config } = load(
      "list: [{name: a, labels: {x: '1', y: '2'}, inner: {wait: 2s, max_size: 1KiB}}]",
    );
    expect(config?.get(list)).toEqual([
      {
        name: "a",
        labels: new Map([
          ["x", "1"],
          ["y", "2"],
        ]),
        inner: { waitMs: 2_000, maxSize: 1_024 },
      },
    ]);
    expect(
      config?.effective({ provenance: false }).filter(({ key }) => key.startsWith("list")),
    ).toEqual([
      { key: "list.0.inner.max_size", value: 1_024 },
      { key: "list.0.inner.wait", value: "2s" },
      { key: "list.0.labels.x", value: "1" },
      { key: "list.0.labels.y", value: "2" },
      { key: "list.0.name", value: "a" },
    ]);
  });

  it("shows what is not set without a value", () => {
    expect(load("list: [{name: a}]").config?.effective({ provenance: false })).toEqual(
      expect.arrayContaining([{ key: "list.0.inner.max_size" }, { key: "list.0.labels" }]),
    );
  });

  it.each([
    [
      "list: [{name: a, inner: 5}]",
      "ERROR list[0].inner: must have the keys wait, max_size, got a number (line 1)",
    ],
    [
      "list: [{name: a, inner: {wiat: 5s}}]",
      "ERROR list[0].inner.wiat: is not a known key (line 1) — did you mean wait?",
    ],
    [
      "list: [{name: a, inner: {max_size: 4KiB}}]",
      'ERROR list[0].inner.max_size: must be a size from 1 to 2KiB, got "4KiB" (line 1)',
    ],
    [
      "list: [{name: a, inner: {wait: 0}}]",
      "ERROR list[0].inner.max_size: is needed without a wait (line 1)",
    ],
    [
      "list: [{name: a, labels: {x: '1', y: '2', z: '3'}}]",
      "ERROR list[0].labels: must have at most 2 entries, got 3 (line 1)",
    ],
    [
      "list: [{name: a, labels: {x: []}}]",
      "ERROR list[0].labels.x: must be text, or nothing, got a list (line 1)",
    ],
    [
      "list: [{name: a, labels: [x]}]",
      "ERROR list[0].labels: must be names with one value each, got a list (line 1)",
    ],
  ])("that is wrong is named by its whole path: %s", (yaml, expected) => {
    expect(problems(yaml)).toEqual([expected]);
  });

  it("is on the reference page field by field", () => {
    expect(list.type.fields?.map(({ name, required }) => [name, required])).toEqual([
      ["name", true],
      ["labels", false],
      ["inner.wait", false],
      ["inner.max_size", false],
    ]);
  });
});

describe("a section as one object", () => {
  it("has a key for each field, and is read together", () => {
    expect(keysOf(section).map(({ path }) => path)).toEqual([
      "a.section.wait",
      "a.section.max_size",
      "a.section.max_tries",
    ]);
    const { config } = load("a: {section: {wait: 3s}}");
    expect(config && readKeyGroup(config, section)).toEqual({
      waitMs: 3_000,
      maxSize: undefined,
      tries: 4,
    });
  });

  it("keeps the rules and warnings of its fields", () => {
    expect(problems("a: {section: {max_tries: 5}}")).toEqual([
      "ERROR a.section.max_tries: must not be 5 (line 1)",
    ]);
    expect(problems("a: {section: {max_tries: 9}}")).toEqual([
      "WARNING a.section.max_tries: is many (line 1)",
    ]);
  });
});

describe("a name as it is written", () => {
  it.each([
    ["timeoutMs", "timeout"],
    ["maxObjectWireBytes", "max_object_wire_bytes"],
    ["k8sAudit", "k8s_audit"],
    ["vpn_ips", "vpn_ips"],
    ["name", "name"],
  ])("%s is %s", (name, written) => {
    expect(writtenName(name, {})).toBe(written);
  });
});
