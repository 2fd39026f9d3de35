/**
 * Log records on their way from their thread. Bounded: what waits and what was sent but not yet taken up are counted
 * together, the newest beyond that is dropped and counted.
 */
import type { Clock } from "../base/clock.ts";
import type { WireLog, WriterMessage } from "./messages.ts";
import { LOG_QUEUE, LOGS_PER_MESSAGE } from "./messages.ts";
import type { AnyLogRow, AttributeValue, LogFields } from "./types.ts";

/** A record waits at most this long for company. */
const GATHER_MS = 100;
const BODY_CHARACTERS = 32_768;
const VALUE_CHARACTERS = 4_096;
const MARK = "…[truncated]";

/** The queue of one thread. */
export class LogQueue {
  readonly #clock: Clock;
  readonly #post: (message: WriterMessage) => void;
  #waiting: WireLog[] = [];
  #sent = 0;
  #dropped = 0;
  #open = false;
  #timer: Disposable | undefined;

  constructor(clock: Clock, post: (message: WriterMessage) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  /** Whether anybody wants records. Closing forgets those that wait: they are counted as dropped. */
  open(wanted: boolean): void {
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
    this.#sent = 0;
    this.#open = wanted;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  add(scope: number, row: AnyLogRow, fields: LogFields): void {
    if (!this.#open) return;
    if (this.#waiting.length + this.#sent >= LOG_QUEUE) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push({ scope, name: row.name, severity: row.severity, body: cut(fields.body, BODY_CHARACTERS), attributes: present(row, fields), timeMs: fields.timeMs ?? this.#clock.now() });
    if (this.#waiting.length >= LOGS_PER_MESSAGE) return this.flush();
    this.#timer ??= this.#clock.timer(this.#clock.monotonic() + GATHER_MS, () => this.flush());
  }

  flush(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const records = this.#waiting;
    this.#waiting = [];
    this.#sent += records.length;
    this.#post({ type: "logs", records });
  }

  acknowledge(records: number): void {
    this.#sent = Math.max(0, this.#sent - records);
  }

  status(): { held: number; capacity: number; dropped: number } {
    return { held: this.#waiting.length + this.#sent, capacity: LOG_QUEUE, dropped: this.#dropped };
  }
}

function present(row: AnyLogRow, fields: LogFields): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (const name of row.attributes) {
    const value = fields.attributes[name];
    if (value !== undefined) attributes[name] = typeof value === "string" ? cut(value, VALUE_CHARACTERS) : value;
  }
  return attributes;
}

/** At most that many characters, never half a surrogate pair, the cut marked. */
function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return `${text.slice(0, characters - MARK.length).replace(/[\uD800-\uDBFF]$/, "")}${MARK}`;
}
