import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventRecord } from "../../../src/monitor/events/types.ts";
import type { AnnotationEvent } from "../../../src/monitor/annotations/types.ts";
import { createAuditIntake } from "../../../src/monitor/audit/intake.ts";
import { readAuditEvent } from "../../../src/monitor/audit/record.ts";
import { createInstantReader } from "../../../src/monitor/ingest/instants.ts";
import { memoryLog } from "../../kernel/telemetry/fixtures.ts";
import { ago, keepingScope, NOW_MS, unhurried } from "../flows/fixtures.ts";

/** What an administrator did ten seconds ago. */
function event(given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    eventTime: ago(10),
    type: "CONFIG",
    eventGroupID: "g-1",
    origin: "ADMIN_CONSOLE",
    action: "UPDATE",
    actor: { id: "u-5", type: "USER", loginName: "ada@corp.test", displayName: "Ada L" },
    target: { id: "net-1", name: "corp.test", type: "TAILNET", property: "ACL" },
    old: "a",
    new: { b: 1 },
    actionDetails: "",
    error: "",
    ...given,
  };
}

function setUp() {
  const kept = keepingScope();
  const log = memoryLog();
  const annotations: AnnotationEvent[] = [];
  const events: EventRecord[] = [];
  const intake = createAuditIntake({
    options: { name: "corp.test", selfObservability: true },
    scope: kept.scope,
    clock: kept.clock,
    log,
    annotations: { publish: (told) => void annotations.push(told) },
    events: { record: (event) => void events.push(event) },
  });
  return {
    ...kept,
    log,
    annotations,
    events,
    intake,
    accept: (records: readonly unknown[], source: "poll" | "stream" | "objectstore" = "poll") =>
      intake.accept({ records, source }, unhurried),
  };
}

describe("The intake of the configuration audit", () => {
  it("counts an event, its category and its delays", async () => {
    const { accept, series } = setUp();
    expect(await accept([event({ deferredAt: ago(4) })])).toEqual({ accepted: 1, refused: {} });
    expect(series()).toEqual([
      'svc.ingest.event.age{source="poll",signal="audit"} n=1 sum=10',
      `svc.ingest.last_event_timestamp{source="poll",signal="audit"} ${(NOW_MS - 10_000) / 1_000}`,
      'svc.ingest.records{source="poll",signal="audit"} 1',
      'vpn.config.audit.changes{vpn.audit.change="acl",vpn.audit.action="UPDATE",vpn.actor.type="USER"} 1',
      "vpn.config.audit.deferred.delay n=1 sum=6",
      'vpn.config.audit.events{vpn.audit.action="UPDATE",vpn.audit.origin="ADMIN_CONSOLE"} 1',
      "vpn.config.audit.processing.delay n=1 sum=4",
      ...["action", "actor_type", "origin", "target_property"].map(
        (field) => `vpn.config.audit.schema_drift{field="${field}",status="known"} 1`,
      ),
    ]);
  });

  it("stores an accepted event once, whatever the privacy filter hides", async () => {
    const { accept, events } = setUp();
    await accept([event(), event(), { action: 1 }]);
    expect(events).toMatchObject([
      { source: "audit", network: "corp.test", actor: { name: "ada@corp.test" } },
    ]);
  });

  it("logs an event at its time, with nothing that it does not say", async () => {
    const { accept, logged } = setUp();
    await accept([event()]);
    expect(JSON.parse(JSON.stringify(logged))).toEqual([
      {
        name: "vpn.config.audit",
        body: "UPDATE on TAILNET.ACL via ADMIN_CONSOLE of corp.test by ada@corp.test",
        severity: "info",
        timeMs: NOW_MS - 10_000,
        attributes: {
          "vpn.audit.action": "UPDATE",
          "vpn.audit.origin": "ADMIN_CONSOLE",
          "vpn.audit.event_group_id": "g-1",
          "user.id": "u-5",
          "user.name": "ada@corp.test",
          "user.full_name": "Ada L",
          "vpn.actor.type": "USER",
          "vpn.target.id": "net-1",
          "vpn.target.name": "corp.test",
          "vpn.target.type": "TAILNET",
          "vpn.target.property": "ACL",
          "vpn.audit.old": "a",
          "vpn.audit.new": '{"b":1}',
          "vpn.audit.type": "CONFIG",
        },
      },
    ]);
  });

  it("logs an event with an error as a warning, with everything that it says", async () => {
    const { accept, logged } = setUp();
    await accept([
      event({
        error: "not allowed",
        actionDetails: "tried",
        deferredAt: ago(4),
        logged: ago(3),
        old: null,
        new: false,
        actor: { tags: ["tag:b", "tag:a"] },
        target: { type: "NODE", isEphemeral: false },
        action: "CREATE",
        origin: "",
      }),
    ]);
    expect(logged[0]).toMatchObject({
      severity: "warn",
      observedMs: NOW_MS - 3_000,
      body: "CREATE on NODE, which failed: not allowed",
      attributes: {
        "error.message": "not allowed",
        "vpn.audit.details": "tried",
        "vpn.audit.deferred_at": ago(4),
        "vpn.audit.old": undefined,
        "vpn.audit.new": "false",
        "vpn.actor.tags": "tag:a,tag:b",
        "vpn.target.ephemeral": false,
        "vpn.actor.type": "",
        "user.name": "",
      },
    });
  });

  it("names series by known words only, and warns of others once each by a digest", async () => {
    const { accept, series, log } = setUp();
    const strange = (at: number) =>
      event({
        eventGroupID: `g-${at}`,
        action: "SECRET-WORD",
        origin: "ELSEWHERE",
        actor: { type: "GHOST" },
      });
    await accept([strange(1), strange(2)]);
    expect(series("vpn.config.audit.events")).toEqual([
      'vpn.config.audit.events{vpn.audit.action="other",vpn.audit.origin="other"} 2',
    ]);
    expect(series("vpn.config.audit.changes")).toEqual([
      'vpn.config.audit.changes{vpn.audit.change="acl",vpn.audit.action="other",vpn.actor.type="other"} 2',
    ]);
    expect(
      series("vpn.config.audit.schema").filter((line) => line.includes("unknown")),
    ).toHaveLength(3);
    expect(log.lines).toHaveLength(3);
    expect(log.lines[0]).toContain('"field":"action","digest":"');
    expect(log.lines.join("\n")).not.toContain("SECRET-WORD");
  });

  it("warns of no more than 128 words", async () => {
    const { accept, log } = setUp();
    await accept(
      Array.from({ length: 200 }, (_, at) => event({ eventGroupID: `g-${at}`, action: `A${at}` })),
    );
    expect(log.lines).toHaveLength(128);
  });

  it("counts an event once by whichever ways it comes, and no double of a poll's edge as one", async () => {
    const { accept, intake, logged } = setUp();
    await accept([event()]);
    await accept([event()]);
    expect(intake.dedupSets()).toEqual([
      { name: "audit", size: 1, capacity: 4_096, hits: 0, evictions: 0 },
    ]);
    await accept([event({ eventTime: ago(9.7) })], "stream");
    expect(intake.dedupSets()).toMatchObject([{ hits: 1 }]);
    await accept([
      event({ action: "DELETE" }),
      event({ target: { id: "net-2", type: "TAILNET", property: "ACL" } }),
      event({ target: { id: "net-1", type: "TAILNET", property: "HTTPS" } }),
      event({ eventGroupID: "g-2" }),
    ]);
    expect(logged).toHaveLength(5);
  });

  it("tells events without a group apart by their time", async () => {
    const { accept, logged } = setUp();
    await accept(
      [
        event({ eventGroupID: "" }),
        event({ eventGroupID: "", eventTime: ago(9) }),
        event({ eventGroupID: "" }),
      ],
      "stream",
    );
    expect(logged).toHaveLength(2);
  });

  it("marks classified changes on the dashboard, without who and which, and others not", async () => {
    const { accept, annotations } = setUp();
    await accept([
      event(),
      event({ eventGroupID: "g-2", error: "no", action: "ODD" }),
      event({ eventGroupID: "g-3", target: { type: "USER", property: "EMAIL" } }),
    ]);
    expect(annotations).toEqual([
      {
        category: "config_change",
        timeMs: NOW_MS - 10_000,
        text: "Configuration change (acl): UPDATE on TAILNET.ACL via ADMIN_CONSOLE.",
        tags: ["acl"],
        identity: 'audit corp.test ["g-1","UPDATE","net-1","ACL"]',
      },
      expect.objectContaining({
        text: "Configuration change (acl): other on TAILNET.ACL via ADMIN_CONSOLE, which failed.",
      }),
    ]);
  });

  it("bounds names, and leaves the texts of an event to the limits of log records", () => {
    const long = "x".repeat(100_000);
    const bounded = expect.stringMatching(/^x{1004}…~[0-9a-f]{16}$/) as string;
    expect(
      readAuditEvent(
        event({
          action: long,
          actor: { id: long, loginName: long, displayName: long, tags: [long] },
          target: { name: long },
          actionDetails: long,
          error: long,
          new: long,
        }),
        createInstantReader(),
      ),
    ).toMatchObject({
      action: bounded,
      actor: { id: bounded, login: bounded, displayName: bounded, tags: [bounded] },
      target: { name: bounded },
      details: long,
      error: long,
      new: long,
    });
  });

  it("says no delay that would be negative", async () => {
    const { accept, series } = setUp();
    await accept([
      event({ eventTime: ago(-5), deferredAt: ago(-7) }),
      event({ eventGroupID: "g-2", deferredAt: ago(20) }),
    ]);
    expect(series("vpn.config.audit.deferred")).toEqual([
      "vpn.config.audit.deferred.delay n=1 sum=2",
    ]);
    expect(series("vpn.config.audit.processing")).toEqual([
      "vpn.config.audit.processing.delay n=1 sum=20",
    ]);
  });

  it("refuses what is no event, takes what is beside it, and stops between two records", async () => {
    const { accept, intake } = setUp();
    expect(
      await accept([
        7,
        { action: "UPDATE" },
        event({ action: "" }),
        event({ origin: 7 }),
        event({ eventTime: "soon" }),
        event(),
      ]),
    ).toEqual({ accepted: 1, refused: { malformed: 5 } });
    await expect(
      intake.accept({ records: [event()], source: "poll" }, AbortSignal.abort(new Error("enough"))),
    ).rejects.toThrow("enough");
  });
});

describe("Reading an event", () => {
  it("never throws", () => {
    const member = fc.constantFrom(
      "action",
      "actor",
      "target",
      "eventTime",
      "old",
      "new",
      "tags",
      "id",
      "isEphemeral",
      "origin",
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.jsonValue(),
        fc.dictionary(member, tie("value"), { maxKeys: 8 }),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => {
        const read = readAuditEvent(json, createInstantReader());
        if (read !== undefined) expect(read.action).not.toBe("");
      }),
      { numRuns: 500 },
    );
  });
});
