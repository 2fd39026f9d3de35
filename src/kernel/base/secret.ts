/** Secrets as a type that cannot be printed, and the constant-time comparison. */
import { createHash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

const SHOWN = "[secret]";

/** A value that appears in logs, templates and JSON only as `[secret]`. */
export class Secret {
  readonly #value: string;
  /** Its source, e.g. `STEWARD_AUTH__TOKEN_FILE`. Never the value. */
  readonly origin: string;

  private constructor(value: string, origin: string) {
    this.#value = value;
    this.origin = origin;
  }

  static of(value: string, origin: string): Secret {
    return new Secret(value, origin);
  }

  /** Passes the value to `read` only. */
  use<T>(read: (value: string) => T): T {
    return read(this.#value);
  }

  /** Constant-time comparison for any lengths. */
  equals(other: Secret | string): boolean {
    return other instanceof Secret
      ? other.use((value) => equalSecrets(this.#value, value))
      : equalSecrets(this.#value, other);
  }

  toJSON(): "[secret]" {
    return SHOWN;
  }

  toString(): string {
    return SHOWN;
  }

  static {
    Object.defineProperty(Secret.prototype, inspect.custom, { value: () => SHOWN });
  }
}

/** Hashes both sides, so that neither content nor length affects the time. */
export function equalSecrets(left: string | Uint8Array, right: string | Uint8Array): boolean {
  return timingSafeEqual(
    createHash("sha256").update(left).digest(),
    createHash("sha256").update(right).digest(),
  );
}
