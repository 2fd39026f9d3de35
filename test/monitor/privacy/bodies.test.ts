import { describe, expect, it } from "vitest";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import { logAuditEvent } from "../../../src/monitor/audit/audit-log.ts";
import { readAuditEvent } from "../../../src/monitor/audit/record.ts";
import { createInstantReader } from "../../../src/monitor/ingest/instants.ts";
import { createK8sIntake } from "../../../src/monitor/k8s/intake.ts";
import { createRedaction } from "../../../src/monitor/privacy/redaction.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import type { PrivacyOptions } from "../../../src/monitor/options.ts";
import { categories, hiding } from "./fixtures.ts";

/** A scope that keeps the bodies as they are exported. */
function exporting(privacy: PrivacyOptions): {
  readonly scope: SeriesScope;
  readonly bodies: string[];
} {
  const bodies: string[] = [];
  const redact = createRedaction(privacy);
  const scope = createTelemetryWriter({ clock: createManualClock() }).scope({
    name: "n",
    resource: {},
    constants: {},
    redact: {
      metric: (row, values) => redact?.metric?.(row, values) ?? values,
      log(row, fields) {
        const exported = redact?.log?.(row, fields) ?? fields;
        bodies.push(exported.body);
        return exported;
      },
    },
  }) as SeriesScope;
  return { scope, bodies };
}

async function sayAll(privacy: PrivacyOptions): Promise<string[]> {
  const { scope, bodies } = exporting(privacy);
  const event = readAuditEvent(
    {
      action: "UPDATE",
      origin: "API",
      error: "canary-error",
      actor: {
        id: "canary-id",
        type: "USER",
        loginName: "canary@mail.test",
        displayName: "Canary Name",
      },
      target: { id: "net-1", name: "canary-target", type: "NODE", property: "NAME" },
    },
    createInstantReader(),
  );
  if (event !== undefined) logAuditEvent(scope, event);
  const source = { node: "canary-node.test", nodeID: "n1", nodeUser: "canary@mail.test" };
  const kubernetes = {
    IsResourceRequest: true,
    Path: "/canary",
    Verb: "create",
    Resource: "pods",
    Subresource: "exec",
    Namespace: "web",
    Name: "canary-pod",
  };
  await createK8sIntake({ scope, log: { warn: () => {} } }).accept(
    {
      recording: false,
      recorder: "r",
      records: [
        {
          type: "kubernetes-api-request",
          timestamp: Date.parse("2026-11-20T10:00:00Z") / 1_000,
          request: { method: "POST", path: "/x?command=canary-command&container=canary-box" },
          kubernetes,
          source,
        },
      ],
    },
    new AbortController().signal,
  );
  return bodies;
}

describe("Bodies of records", () => {
  it("name who, what and why when everything is exported", async () => {
    expect(await sayAll(hiding())).toEqual([
      "UPDATE on NODE.NAME via API of canary-target by canary@mail.test, which failed: canary-error",
      "create pods/exec canary-pod in web by canary@mail.test from canary-node.test: canary-command",
    ]);
  });

  it("hold nothing that privacy hides in the attributes", async () => {
    const bodies = await sayAll(hiding(...categories));
    expect(bodies).toHaveLength(2);
    expect(bodies.join("\n")).not.toMatch(/canary/i);
    expect(bodies[0]).toBe(
      "UPDATE on NODE.NAME via API of [redacted] by [redacted], which failed: [redacted]",
    );
  });
});
