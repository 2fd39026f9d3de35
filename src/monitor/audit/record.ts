/** Decodes a configuration audit event from parsed JSON. */
import { boundName } from "../../kernel/base/text/bounded-name.ts";
import type { Instant, InstantReader } from "../ingest/instants.ts";

/**
 * One change, or an attempt at one. Texts are empty when absent; all but details, error, old and
 * new are bounded by `boundName`.
 */
export interface AuditEvent {
  /** Absent in streamed records, whose envelope carries it. */
  readonly time: Instant | undefined;
  /** Set only for events from an object store. */
  readonly logged: Instant | undefined;
  readonly deferred: Instant | undefined;
  readonly type: string;
  readonly groupId: string;
  readonly origin: string;
  readonly action: string;
  readonly details: string;
  readonly error: string;
  readonly actor: {
    readonly id: string;
    readonly type: string;
    readonly login: string;
    readonly displayName: string;
    readonly tags: readonly string[];
  };
  readonly target: {
    readonly id: string;
    readonly name: string;
    readonly type: string;
    readonly property: string;
    readonly ephemeral: boolean | undefined;
  };
  /** JSON unless the value is text; undefined when absent. */
  readonly old: string | undefined;
  readonly new: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Undefined when the value lacks an action or an actor, or a member has the wrong type. Never
 * throws.
 */
export function readAuditEvent(value: unknown, instants: InstantReader): AuditEvent | undefined {
  if (!isObject(value)) return undefined;
  const actor = value["actor"];
  const target = value["target"] ?? {};
  const [time, logged, deferred] = [
    instants.read(value["eventTime"]),
    instants.read(value["logged"]),
    instants.read(value["deferredAt"]),
  ];
  if (
    !isObject(actor) ||
    !isObject(target) ||
    time === "invalid" ||
    logged === "invalid" ||
    deferred === "invalid"
  )
    return undefined;
  const names = namesOf(value, ["type", "eventGroupID", "origin", "action"] as const);
  const texts = textsOf(value, ["actionDetails", "error"] as const);
  const actorTexts = namesOf(actor, ["id", "type", "loginName", "displayName"] as const);
  const targetTexts = namesOf(target, ["id", "name", "type", "property"] as const);
  if (
    names === undefined ||
    texts === undefined ||
    names.action === "" ||
    actorTexts === undefined ||
    targetTexts === undefined
  )
    return undefined;
  return {
    time,
    logged,
    deferred,
    type: names.type,
    groupId: names.eventGroupID,
    origin: names.origin,
    action: names.action,
    details: texts.actionDetails,
    error: texts.error,
    actor: {
      id: actorTexts.id,
      type: actorTexts.type,
      login: actorTexts.loginName,
      displayName: actorTexts.displayName,
      tags: tagsOf(actor["tags"]),
    },
    target: {
      ...targetTexts,
      ephemeral: typeof target["isEphemeral"] === "boolean" ? target["isEphemeral"] : undefined,
    },
    old: valueText(value["old"]),
    new: valueText(value["new"]),
  };
}

function namesOf<K extends string>(
  value: Json,
  names: readonly K[],
): Readonly<Record<K, string>> | undefined {
  const texts = textsOf(value, names);
  return (
    texts &&
    (Object.fromEntries(names.map((name) => [name, boundName(texts[name])])) as Record<K, string>)
  );
}

function textsOf<K extends string>(
  value: Json,
  names: readonly K[],
): Readonly<Record<K, string>> | undefined {
  const texts = names.map((name) => [name, value[name] ?? ""] as const);
  return texts.every(([, text]) => typeof text === "string")
    ? (Object.fromEntries(texts) as Record<K, string>)
    : undefined;
}

function tagsOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === "string").map(boundName)
    : [];
}

function valueText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
