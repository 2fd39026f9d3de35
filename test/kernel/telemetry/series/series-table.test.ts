import { describe, expect, it } from "vitest";
import { defineMetric } from "../../../../src/kernel/telemetry/catalogue.ts";
import type { WriterReply } from "../../../../src/kernel/telemetry/messages.ts";
import { Ceiling } from "../../../../src/kernel/telemetry/series/ceiling.ts";
import { SeriesTable } from "../../../../src/kernel/telemetry/series/series-table.ts";
import { RemoteScope } from "../../../../src/kernel/telemetry/thread/remote-scope.ts";
import type { AnyRow } from "../../../../src/kernel/telemetry/types.ts";

const row = (name: string, attributes: readonly string[]): AnyRow =>
  defineMetric({
    name,
    kind: "gauge",
    unit: "1",
    attributes: [...attributes],
    group: "Test",
    help: "For a test.",
  });
const online = row("test.online", ["host.name", "os.type"]);
const seen = row("test.seen", ["host.name", "os.type"]);
const users = row("test.users", ["user.name", "os.type"]);
const rows = [online, seen, users];

function table(): SeriesTable {
  return new SeriesTable({
    perMetric: 100,
    labelValues: 100,
    redact: undefined,
    ceiling: new Ceiling(),
    rowNumber: (each) => rows.indexOf(each),
    now: () => 0,
    due: () => undefined,
  });
}

/** What the other thread makes of everything that is told. */
function told(from: SeriesTable): RemoteScope {
  const wire = rows.map(
    ({ name, kind, unit, attributes, help, bounds, verbatim }, number) =>
      [
        number,
        { number, name, kind, unit, attributes: [...attributes], help, bounds, verbatim },
      ] as const,
  );
  const replies: WriterReply[] = [];
  const scope = new RemoteScope(
    {
      type: "scope",
      scope: 0,
      name: "test",
      resource: {},
      logResource: {},
      constants: { network: "corp" },
    },
    { rows: new Map(wire), reply: (reply) => void replies.push(reply) },
  );
  const changes = from.drain();
  if (changes !== undefined)
    scope.receiveLabels(structuredClone({ type: "labels" as const, scope: 0, seq: 0, ...changes }));
  return scope;
}

describe("Series of one entity", () => {
  it("share their key, their list of values on the way and their attributes in the other thread", () => {
    const from = table();
    from.attach();
    const host = { "host.name": "db-1", "os.type": "linux" };
    const numbers = [online, seen].map((each) => from.index(each).find({ ...host }));
    const changes = from.describe(numbers);
    expect(changes.values[0]).toEqual(["db-1", "linux"]);
    expect(changes.values[1]).toBe(changes.values[0]);
    const scope = told(from);
    expect(scope.attributesOf(numbers[0] ?? -1)).toEqual({ ...host, network: "corp" });
    expect(scope.attributesOf(numbers[1] ?? -1)).toBe(scope.attributesOf(numbers[0] ?? -1));
  });

  it("keep their own names where only the values are the same", () => {
    const from = table();
    from.attach();
    const [first, second] = [
      from.index(online).find({ "host.name": "ada", "os.type": "linux" }),
      from.index(users).find({ "user.name": "ada", "os.type": "linux" }),
    ];
    const scope = told(from);
    expect(scope.attributesOf(first)).toEqual({
      "host.name": "ada",
      "os.type": "linux",
      network: "corp",
    });
    expect(scope.attributesOf(second)).toEqual({
      "user.name": "ada",
      "os.type": "linux",
      network: "corp",
    });
  });

  it("are told apart by a value that differs", () => {
    const from = table();
    from.attach();
    const numbers = ["db-1", "db-2", undefined].map((name) =>
      from.index(online).find({ "host.name": name, "os.type": "linux" }),
    );
    expect(new Set(numbers).size).toBe(3);
    const scope = told(from);
    expect(numbers.map((number) => scope.attributesOf(number)?.["host.name"])).toEqual([
      "db-1",
      "db-2",
      undefined,
    ]);
  });
});
