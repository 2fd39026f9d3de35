/** Tries a GitHub App with the engine of the daemon, in memory: nothing is stored or minted. */
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createLog } from "../../kernel/base/log.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { stewardVersion } from "../../daemon/version.ts";
import type { Check } from "../../tokens/engine/doctor.ts";
import { createEngine, unreleased } from "../../tokens/engine/engine.ts";
import { proxyOf } from "../../tokens/engine/platform/proxy.ts";
import type { Backend, Data, StorageView } from "../../tokens/logical/types.ts";

export interface GitHubApp {
  readonly url: string;
  readonly appId: number;
  readonly privateKey: Secret;
  /** Empty: no installation is looked for. */
  readonly organisation: string;
}

/** Other answers do not mend these, and the mount works meanwhile. */
const TOLERATED: ReadonlySet<Check["name"]> = new Set(["clock", "permissions"]);

/** The app as a write to the mount's `config` names it. */
export function configOf({ appId, privateKey, url }: GitHubApp): Data {
  return { app_id: appId, base_url: url, prv_key: privateKey.use((key) => key) };
}

/** What was found, a line each. Throws the first failure, with its remedy. */
export async function checkApp(
  app: GitHubApp,
  { environment, signal }: { readonly environment: Environment; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const engine = await openEngine(environment);
  try {
    const request = { id: systemIds.uuid(), mountPoint: "github/", signal };
    await engine.handle({ ...request, operation: "create", path: "config", data: configOf(app) });
    const data = app.organisation === "" ? {} : { org_name: app.organisation };
    const read = await engine.handle({ ...request, operation: "read", path: "doctor", data });
    signal.throwIfAborted();
    return reported(read?.data?.["checks"] as readonly Check[]);
  } catch (error) {
    throw error instanceof StewardError ? inOneLine(error) : error;
  } finally {
    await engine.close();
  }
}

function reported(checks: readonly Check[]): readonly string[] {
  const fatal = checks.find(({ ok, name }) => !ok && !TOLERATED.has(name));
  if (fatal !== undefined)
    throw new StewardError("upstream", `${fatal.name}: ${fatal.detail}`, { remedy: fatal.remedy });
  return checks.map(
    ({ name, detail, remedy }) => `${name}: ${detail}${remedy === "" ? "" : `; ${remedy}`}`,
  );
}

function openEngine(environment: Environment): Promise<Backend> {
  const options = { version: stewardVersion(), build: unreleased, proxy: proxyOf(environment) };
  return createEngine(options)({
    storage: inMemory(),
    limits: () => ({ defaultLeaseTtlMs: 0, maxLeaseTtlMs: 0 }),
    clock: systemClock,
    log: createLog({
      level: "error",
      format: "text",
      write: () => undefined,
      now: () => systemClock.now(),
    }),
  });
}

/** Holds the configuration alone. */
function inMemory(): StorageView {
  const values = new Map<string, Uint8Array>();
  return {
    get: (key) => Promise.resolve(values.get(key)),
    put: (key, value) => Promise.resolve(void values.set(key, value)),
    delete: (key) => Promise.resolve(void values.delete(key)),
    list: () => Promise.resolve([]),
  };
}

/** Vault's list of one error is for its clients. */
function inOneLine(error: StewardError): StewardError {
  const message = error.message.replace(/^1 error occurred:\s*\* /, "").trim();
  return new StewardError(error.code, message, {
    cause: error,
    ...(error.rule === undefined ? {} : { rule: error.rule }),
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
  });
}
