import { expect, it } from "vitest";
import { explorerEvent } from "../../../src/monitor/audit/audit-event.ts";
import { readAuditEvent, type AuditEvent } from "../../../src/monitor/audit/record.ts";
import { createInstantReader } from "../../../src/monitor/ingest/instants.ts";

const at = { network: "corp.test", nowMs: 7_000 };

function read(value: object): AuditEvent {
  const event = readAuditEvent(
    { action: "UPDATE", actor: { id: "u-5" }, ...value },
    createInstantReader(),
  );
  if (event === undefined) throw new Error("it was refused");
  return event;
}

it("an audit event is stored with everything that the explorer shows", () => {
  expect(
    explorerEvent(
      read({
        eventTime: "1970-01-01T00:00:05Z",
        type: "CONFIG",
        origin: "ADMIN_CONSOLE",
        actor: { id: "u-5", type: "USER", loginName: "ada@corp.test", displayName: "Ada L" },
        target: { id: "net-1", name: "corp.test", type: "TAILNET", property: "ACL" },
        old: "a",
        new: { b: 1 },
      }),
      at,
    ),
  ).toEqual({
    timeMs: 5_000,
    source: "audit",
    network: "corp.test",
    action: "UPDATE",
    type: "CONFIG",
    origin: "ADMIN_CONSOLE",
    actor: { id: "u-5", name: "ada@corp.test", type: "USER" },
    target: { id: "net-1", name: "corp.test", type: "TAILNET", property: "ACL" },
    severity: "info",
    error: "",
    summary: "UPDATE on TAILNET.ACL via ADMIN_CONSOLE",
    details: 'old: a\nnew: {"b":1}',
  });
});

it("one without a time has that of its arrival, one with an error is a warning", () => {
  expect(explorerEvent(read({ error: "not allowed", actionDetails: "tried" }), at)).toMatchObject({
    timeMs: 7_000,
    severity: "warn",
    error: "not allowed",
    details: "tried",
  });
  expect(explorerEvent(read({ new: "b" }), at).details).toBe("new: b");
});
