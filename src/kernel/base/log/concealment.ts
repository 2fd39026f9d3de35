/**
 * Replaces known secrets by `[secret]` in foreign text, such as a receiver's error message. A
 * `Secret` cannot be printed; this covers texts that echo what was sent: plain, in JSON, in a URL,
 * in base64 or in hex.
 */
import type { Secret } from "../secret.ts";

/** Shorter values may occur by chance and are not replaced. */
const MIN_SECRET_LENGTH = 8;
/**
 * Maximum number of values; beyond it the oldest is dropped. Configurations have far fewer, and
 * renewed credentials replace each other.
 */
const MAX_VALUES = 1_024;
const SHOWN = "[secret]";

/** A list of secrets that may grow while the process runs. */
export class Concealment {
  readonly #values = new Set<string>();
  #pattern: RegExp | undefined;

  /**
   * Conceals these from now on. Of `Bearer x` also `x` alone, of `Basic x` also the decoded pair.
   */
  add(secrets: Iterable<Secret | string>): void {
    for (const secret of secrets)
      for (const value of partsOf(typeof secret === "string" ? secret : secret.use((text) => text)))
        this.#remember(value);
    const forms = [...new Set([...this.#values].flatMap(formsOf))].filter(
      (form) => form.length >= MIN_SECRET_LENGTH,
    );
    // Longest first: one may be a prefix of another.
    forms.sort((left, right) => right.length - left.length);
    this.#pattern =
      forms.length === 0
        ? undefined
        : new RegExp(
            forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"),
            "g",
          );
  }

  /** The text without them. */
  apply(text: string): string {
    return this.#pattern === undefined ? text : text.replace(this.#pattern, SHOWN);
  }

  #remember(value: string): void {
    if (value.length < MIN_SECRET_LENGTH) return;
    this.#values.delete(value);
    this.#values.add(value);
    for (const oldest of this.#values) {
      if (this.#values.size <= MAX_VALUES) break;
      this.#values.delete(oldest);
    }
  }
}

/** A value, and the credential within it when it is an Authorization header. */
function partsOf(value: string): string[] {
  const [, scheme, credential] = /^([A-Za-z][\w-]*) +(\S+)$/.exec(value) ?? [];
  if (scheme === undefined || credential === undefined) return [value];
  if (scheme.toLowerCase() !== "basic") return [value, credential];
  const decoded = Buffer.from(credential, "base64").toString("utf8");
  return [value, credential, decoded, decoded.slice(decoded.indexOf(":") + 1)];
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const base64 = [0, 1, 2].map((shift) => base64Core(bytes, shift));
  const hex = bytes.toString("hex");
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    new URLSearchParams({ v: value }).toString().slice("v=".length),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    hex,
    hex.toUpperCase(),
  ];
}

/**
 * Base64 of bytes that follow `shift` others, as `user:` in Basic: without the characters shared
 * with neighbouring bytes.
 */
function base64Core(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const mixedAtEnd = (shift + bytes.length) % 3 === 0 ? 0 : 1;
  return text.slice(shift === 0 ? 0 : shift + 1, text.length - mixedAtEnd);
}
