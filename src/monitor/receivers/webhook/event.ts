/** Decodes the events of a webhook's body, and tells repeated deliveries of one apart. */
import { createHash } from "node:crypto";
import { boundName } from "../../../kernel/base/text/bounded-name.ts";
import { parseTree, type TreeLimits } from "../../../kernel/json/tree.ts";
import type { Instant, InstantReader } from "../../ingest/instants.ts";

/** One event. Texts are empty when absent; all but the message are bounded by `boundName`. */
export interface WebhookEvent {
  readonly time: Instant | undefined;
  readonly version: number | undefined;
  readonly type: string;
  readonly network: string;
  readonly message: string;
  /** Empty when absent or no object. */
  readonly data: JsonObject;
  /** Equal for equal events, whatever the order of their members. */
  readonly digest: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

const LIMITS: TreeLimits = {
  depth: 64,
  values: 500_000,
  members: 10_000,
  numberLength: 100,
  nameBytes: 4_096,
};

/** A number as written, so that its digest does not depend on how it is parsed. */
class Written {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
}

/** Undefined when the body is no list, or an element is no event. */
export async function readEvents(
  body: Uint8Array,
  instants: InstantReader,
): Promise<readonly WebhookEvent[] | undefined> {
  const parsed = await parseTree(body, {
    limits: LIMITS,
    number: (digits) => new Written(digits),
  }).catch(() => undefined);
  if (!Array.isArray(parsed)) return undefined;
  const events = parsed.map((element: unknown) => readEvent(element, instants));
  return events.every((event) => event !== undefined) ? events : undefined;
}

function readEvent(value: unknown, instants: InstantReader): WebhookEvent | undefined {
  if (!isObject(value)) return undefined;
  const { version, data } = value;
  const time = instants.read(value["timestamp"]);
  const [type, network, message] = ["type", "tailnet", "message"].map((name) => value[name] ?? "");
  if (
    time === "invalid" ||
    typeof type !== "string" ||
    type === "" ||
    typeof network !== "string" ||
    typeof message !== "string" ||
    !(version === undefined || version === null || isInteger(version))
  )
    return undefined;
  return {
    time,
    version: version instanceof Written ? Number(version.digits) : undefined,
    type: boundName(type),
    network: boundName(network),
    message,
    data: isObject(data) ? data : {},
    digest: createHash("sha256").update(canonical(value)).digest("base64"),
  };
}

/** JSON with sorted names and numbers as written; the depth is limited by the parser. */
function canonical(value: unknown): string {
  if (value instanceof Written) return value.digits;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}

function isInteger(value: unknown): boolean {
  return value instanceof Written && /^-?\d+$/.test(value.digits);
}

function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Written)
  );
}
