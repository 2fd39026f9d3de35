/**
 * Detects unknown words in audit events: counts known and unknown ones, and warns once per unknown
 * word by its digest.
 */
import { createHash } from "node:crypto";
import type { Log } from "../../kernel/base/log.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { configAuditSchemaDrift } from "../catalogue/flows.ts";
import type { AuditEvent } from "./record.ts";
import { vocabularies } from "./vocabulary.ts";
import type { WatchedField } from "./vocabulary.ts";

/** Distinct unknown words that are logged. */
const MAX_WARNINGS = 128;
/** Bytes of a word's SHA-256: enough to compare without revealing the word. */
const DIGEST_BYTES = 6;

export function createDriftWatch({
  scope,
  log,
}: {
  readonly scope: Pick<Scope, "add">;
  readonly log: Pick<Log, "warn">;
}): (event: AuditEvent) => void {
  const warned = new Set<string>();
  const look = (field: WatchedField, word: string): void => {
    if (word === "") return;
    const known = vocabularies[field].has(word);
    scope.add(configAuditSchemaDrift, 1, { field, status: known ? "known" : "unknown" });
    if (known || warned.size >= MAX_WARNINGS) return;
    const digest = createHash("sha256")
      .update(word)
      .digest("hex")
      .slice(0, DIGEST_BYTES * 2);
    if (warned.has(`${field} ${digest}`)) return;
    warned.add(`${field} ${digest}`);
    log.warn(
      "the configuration audit contains an unknown value: the upstream may be newer than this version",
      { name: `${field} ${digest}`, field, digest },
    );
  };
  return ({ action, origin, actor, target }) => {
    look("action", action);
    look("origin", origin);
    look("actor_type", actor.type);
    look("target_property", target.property);
  };
}
