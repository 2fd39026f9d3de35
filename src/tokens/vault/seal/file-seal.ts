/**
 * The seal of a store whose key is a file: read at start, made at the first one. Without it the
 * service is sealed, reports why, and the rest of Steward runs.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Keyring } from "../../../kernel/state/types.ts";
import { keyLocations, makeKey, parseKey, readKey, type KeyLocation } from "./root-key.ts";
import type { Seal, SealDeps, SealOptions, SealStatus } from "./types.ts";

/** Opens the store with its key. Throws store errors only: what the key lacks is in `status`. */
export async function openFileSeal(
  deps: SealDeps & { readonly keyring: Keyring },
  options: SealOptions,
): Promise<Seal> {
  const state = new FileSeal(deps, options.invented === true);
  await state.open(keyLocations({ ...options, directory: deps.directory }));
  return state;
}

class FileSeal implements Seal {
  readonly shared = undefined;
  readonly #deps: SealDeps;
  readonly #keyring: Keyring;
  readonly #invented: boolean;
  #initialized: boolean;
  #reason: string | undefined;
  #advisory: string | undefined;

  constructor(deps: SealDeps & { readonly keyring: Keyring }, invented: boolean) {
    this.#deps = deps;
    this.#keyring = deps.keyring;
    this.#invented = invented;
    this.#initialized = Object.values(deps.env.status().rows).some((rows) => rows > 0);
  }

  status(): SealStatus {
    const { sealed } = this.#keyring.status();
    return {
      initialized: this.#initialized,
      sealed,
      type: "static",
      shares: 1,
      threshold: 1,
      progress: 0,
      nonce: "",
      reason: sealed ? this.#reason : undefined,
      advisory: sealed ? undefined : this.#advisory,
    };
  }

  async unseal(text: string): Promise<boolean> {
    const key = parseKey(text);
    if (key === undefined)
      throw new StewardError("invalid", "the key must be 32 bytes in hexadecimal or base64", {
        field: "key",
        rule: "key",
        remedy: "give the content of the key file",
      });
    if (!this.#initialized)
      throw new StewardError(
        "invalid",
        `there is no store to unseal yet: ${this.#reason ?? "it is created at the first start"}`,
        { rule: "initialized" },
      );
    await this.#take(key);
    this.#deps.log.info("the store of tokens is unsealed");
    return true;
  }

  reset(): void {
    // The whole key is given at once: there is nothing to discard.
  }

  seal(why = "sealed by sys/seal"): void {
    this.#keyring.seal();
    this.#reason = `${why}: give the key to sys/unseal, or restart`;
    this.#deps.log.warn("the store of tokens is sealed until it is unsealed or Steward restarts");
  }

  async open(locations: readonly KeyLocation[]): Promise<void> {
    try {
      await this.#openBy(locations);
    } catch (error) {
      if (!(error instanceof StewardError) || (error.code !== "invalid" && error.code !== "denied"))
        throw error;
      this.#reason =
        error.remedy === undefined ? error.message : `${error.message}; ${error.remedy}`;
      this.#deps.log.error("the store of tokens stays sealed", { reason: this.#reason });
    }
  }

  async #openBy(locations: readonly KeyLocation[]): Promise<void> {
    for (const location of locations) {
      const key = await readKey(location);
      if (key !== undefined) return await this.#use(location, key);
    }
    const last = locations.at(-1);
    if (last === undefined || last.kind !== "state-directory" || this.#initialized)
      throw missing(last?.path ?? "", this.#initialized);
    await this.#use(last, await makeKey(last, this.#deps.ids));
    if (!this.#invented)
      this.#deps.log.info(
        "created the key of the tokens service; keep a copy of it apart from the backups",
        { path: last.path },
      );
  }

  async #use(location: KeyLocation, key: Uint8Array): Promise<void> {
    await this.#take(key, location.path);
    if (location.kind !== "state-directory" || this.#invented) return;
    this.#advisory = `the key of the tokens service (${location.path}) is in the same folder as the data that it protects: anyone who copies the state folder has both`;
    this.#deps.log.warn(this.#advisory, {
      remedy:
        "name a file elsewhere in tokens.seal.key_file, or pass a systemd credential tokens.key",
    });
  }

  async #take(key: Uint8Array, path?: string): Promise<void> {
    try {
      await this.#keyring.unseal(key);
      this.#initialized = true;
      this.#reason = undefined;
    } catch (error) {
      if (!(error instanceof StewardError) || error.code !== "denied") throw error;
      const which =
        path === undefined ? "this is not the key" : `the key file ${path} does not hold the key`;
      throw new StewardError("denied", `${which} that the store of tokens was made with`, {
        rule: "root key",
        remedy:
          "restore the key file that belongs to this state folder, or the backup that belongs to this key",
        cause: error,
      });
    } finally {
      key.fill(0);
    }
  }
}

function missing(path: string, initialized: boolean): StewardError {
  return initialized
    ? new StewardError(
        "invalid",
        `the key file ${path} is missing, and the store of tokens cannot be read without it`,
        {
          rule: "key file",
          remedy: "put it back from where it was saved, or give the key to sys/unseal",
        },
      )
    : new StewardError("invalid", `the key file ${path} is missing`, {
        rule: "key file",
        remedy: `make one: head -c 32 /dev/urandom | base64 > ${path} && chmod 600 ${path}`,
      });
}
