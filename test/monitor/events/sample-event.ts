/** An event of the explorer with only what a test needs. */
import type { EventRecord } from "../../../src/monitor/events/types.ts";

export function sampleEvent(given: Partial<EventRecord> = {}): EventRecord {
  return {
    timeMs: 1_000,
    source: "audit",
    network: "corp.test",
    action: "UPDATE",
    type: "CONFIG",
    origin: "ADMIN_CONSOLE",
    actor: { id: "u-5", name: "ada@corp.test", type: "USER" },
    target: { id: "n-1", name: "web-1", type: "NODE", property: "ACL" },
    severity: "info",
    error: "",
    summary: "UPDATE on NODE.ACL via ADMIN_CONSOLE",
    details: "",
    ...given,
  };
}
