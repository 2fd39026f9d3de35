import { describe, expect, it } from "vitest";
import type { Log, LogFields } from "../../../src/kernel/base/log.ts";
import { createAuditIntake } from "../../../src/monitor/audit/intake.ts";
import { auditlogs } from "../../../src/monitor/collectors/auditlogs.ts";
import type { AuditIntake } from "../../../src/monitor/flows/types.ts";
import type { LogOptions } from "../../../src/monitor/options.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import type { Answers } from "./fake-provider.ts";
import { networkOptions, openCollector } from "./harness.ts";

const options: LogOptions = {
  intervalMs: 60_000,
  source: "poll",
  lagMs: 60_000,
  initialLookbackMs: 300_000,
  maxWindowMs: 21_600_000,
  objectStore: undefined,
};

function open(answers: Answers) {
  const accepted: unknown[] = [];
  const keeping: AuditIntake = {
    accept: async ({ records, source }) => (
      accepted.push(source, ...records),
      { accepted: records.length, refused: {} }
    ),
  };
  const provider = createFakeProvider(answers);
  return {
    provider,
    accepted,
    harness: openCollector(auditlogs, provider, {
      collectors: { auditlogs: options },
      deps: { audit: keeping },
    }),
  };
}

describe("The collector of the audit log", () => {
  it("hands the events of the window to the intake", async () => {
    const { harness, provider, accepted } = open({ auditLogs: [["a"], ["b", "c"]] });
    await harness.run({ window: { fromMs: 1, toMs: 2 } });
    expect(provider.calls).toEqual(['auditLogs {"fromMs":1,"toMs":2}']);
    expect(accepted).toEqual(["poll", "a", "poll", "b", "c"]);
    expect(harness.states.get("listConfigurationAuditLogs")).toBe("supported");
  });

  it.each([
    [403, "scope_denied"],
    [404, "disabled"],
    [503, "transient_failure"],
  ])("fails on status %s, so that the window is read again", async (status, state) => {
    const { harness } = open({
      auditLogs: () => {
        throw failing(status);
      },
    });
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.states.get("listConfigurationAuditLogs")).toBe(state);
  });

  it("warns once per run of the records that were refused, also when the run fails", async () => {
    const lines: (readonly [string, LogFields | undefined])[] = [];
    const log = {
      warn: (message: string, fields?: LogFields) => void lines.push([message, fields]),
    } as Partial<Log> as Log;
    const provider = createFakeProvider({ auditLogs: [[{}, "a"], [{}], [7, { action: "" }]] });
    const { scope, clock } = openCollector(auditlogs, provider, {
      collectors: { auditlogs: options },
    });
    const audit = createAuditIntake({
      options: networkOptions(),
      scope,
      clock,
      log,
      annotations: { publish: () => undefined },
      events: { record: () => undefined },
    });
    const harness = openCollector(auditlogs, provider, {
      collectors: { auditlogs: options },
      deps: { audit, log },
    });
    await harness.run();
    const refused = (count: number) => [
      "records of the configuration audit log were refused and are not counted: the upstream may be newer than this version",
      { count, class: "malformed" },
    ];
    expect(lines.splice(0)).toEqual([refused(5)]);
    provider.answers.auditLogs = [[{ action: "CREATE", actor: {}, target: {} }]];
    await harness.run();
    expect(lines).toEqual([]);
    const broken = openCollector(
      auditlogs,
      createFakeProvider(
        {},
        {
          async *auditLogs() {
            yield [{}];
            throw failing(503);
          },
        },
      ),
      { collectors: { auditlogs: options }, deps: { audit, log } },
    );
    await expect(broken.run()).rejects.toMatchObject({ code: "upstream" });
    expect(lines).toEqual([refused(1)]);
  });

  it("fails when the intake does, which says nothing of the control plane, and gives the reading up", async () => {
    let closed = false;
    const provider = createFakeProvider(
      {},
      {
        async *auditLogs() {
          try {
            yield [{}];
            yield [{}];
          } finally {
            closed = true;
          }
        },
      },
    );
    const harness = openCollector(auditlogs, provider, {
      collectors: { auditlogs: options },
      deps: { audit: { accept: () => Promise.reject(new Error("disk full")) } },
    });
    await expect(harness.run()).rejects.toThrow("disk full");
    expect(closed).toBe(true);
    expect(harness.states.get("listConfigurationAuditLogs")).toBe("supported");
  });

  it("polls unless events come another way, and reads no window again", () => {
    const prepared = (source: LogOptions["source"]) =>
      auditlogs.prepare(networkOptions({ collectors: { auditlogs: { ...options, source } } }));
    expect(prepared("poll")).toMatchObject({
      intervalMs: 60_000,
      window: { lagMs: 60_000, initialLookbackMs: 300_000, maxWindowMs: 21_600_000, overlapMs: 0 },
    });
    expect([
      prepared("both") === undefined,
      prepared("stream"),
      prepared("objectstore"),
      auditlogs.prepare(networkOptions()),
    ]).toEqual([false, undefined, undefined, undefined]);
  });
});
