/** Secrets as a type that cannot be printed, and the one constant-time comparison of the house. */
import { createHash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

const SHOWN = "[secret]";

/** A value that reaches a log, a template or JSON only as `[secret]`. */
export class Secret {
  readonly #value: string;
  /** Where it came from, e.g. `STEWARD_AUTH__TOKEN_FILE`. Never the value. */
  readonly origin: string;

  private constructor(value: string, origin: string) {
    this.#value = value;
    this.origin = origin;
  }

  static of(value: string, origin: string): Secret {
    return new Secret(value, origin);
  }

  /** Hands the value to `read` and to nobody else. */
  use<T>(read: (value: string) => T): T {
    return read(this.#value);
  }

  /** Compares in constant time, whatever the lengths. */
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

/** Hashes both sides, so that neither content nor length shows in the time taken. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(
    createHash("sha256").update(left).digest(),
    createHash("sha256").update(right).digest(),
  );
}
