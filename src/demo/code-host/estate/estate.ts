/**
 * Who is registered where: apps by id and client id, their installations by id and by account,
 * former names, and the changes that owners make while the host runs.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import { StewardError } from "../../../kernel/base/errors.ts";
import { compileInstallation, type Installation, type Repository } from "./installation.ts";
import type { AppSpec, InstallationSpec } from "../types.ts";

/**
 * A registered app. A new key makes another object, so that nothing verified under the old one is
 * believed.
 */
export interface App {
  readonly spec: AppSpec;
  readonly keys: readonly KeyObject[];
  readonly installations: ReadonlyMap<number, Installation>;
  /** Lower-case login or slug to installation. */
  readonly byLogin: ReadonlyMap<string, Installation>;
  /** The same for names that the accounts no longer have. */
  readonly byFormerLogin: ReadonlyMap<string, Installation>;
}

/** The registered apps and their installations. Changes take effect with the next request. */
export interface Estate {
  app(id: number): App | undefined;
  appByClientId(clientId: string): App | undefined;
  /** With the app it belongs to. */
  installation(id: number): { readonly app: App; readonly installation: Installation } | undefined;
  /** A repository of any installation of any app, by full name or id. */
  repository(
    name: { readonly owner: string; readonly name: string } | { readonly id: number },
  ): { readonly installation: Installation; readonly repository: Repository } | undefined;
  /**
   * Adds an installation. Throws `not_found` for an unknown app, `conflict` when the id is taken.
   */
  install(appId: number, spec: InstallationSpec): void;
  /** Removes one; its tokens are answered 401 from then on. */
  uninstall(installationId: number): void;
  /**
   * Changes members of one, e.g. `{ permissions }` or `{ suspendedAt: "2026-01-01T00:00:00Z" }`.
   * Throws `not_found`.
   */
  change(installationId: number, members: Partial<Omit<InstallationSpec, "id">>): void;
  /** Gives the account another login; the old one is answered 301. Throws `not_found`. */
  rename(installationId: number, login: string): void;
  /** Replaces the keys of an app. Throws `not_found`, `invalid` for an unusable key. */
  replaceKeys(appId: number, publicKeys: AppSpec["publicKeys"]): void;
}

/** Throws `invalid` for an unusable key, `conflict` for an id that occurs twice. */
export function createEstate(specs: readonly AppSpec[]): Estate {
  return new RegisteredApps(specs);
}

class RegisteredApps implements Estate {
  readonly #apps = new Map<number, App>();
  readonly #byClientId = new Map<string, number>();
  readonly #appOf = new Map<number, number>();

  constructor(specs: readonly AppSpec[]) {
    for (const spec of specs) {
      if (this.#apps.has(spec.id) || this.#byClientId.has(spec.clientId))
        throw new StewardError("conflict", `app ${spec.id} or its client id is registered twice`);
      this.#byClientId.set(spec.clientId, spec.id);
      for (const { id } of spec.installations) this.#claim(id, spec.id);
      this.#apps.set(spec.id, compileApp(spec));
    }
  }

  app(id: number): App | undefined {
    return this.#apps.get(id);
  }

  appByClientId(clientId: string): App | undefined {
    const id = this.#byClientId.get(clientId);
    return id === undefined ? undefined : this.#apps.get(id);
  }

  installation(id: number): { app: App; installation: Installation } | undefined {
    const app = this.#apps.get(this.#appOf.get(id) ?? -1);
    const installation = app?.installations.get(id);
    return app === undefined || installation === undefined ? undefined : { app, installation };
  }

  repository(
    name: { owner: string; name: string } | { id: number },
  ): { installation: Installation; repository: Repository } | undefined {
    for (const app of this.#apps.values()) {
      const candidates =
        "id" in name ? app.installations.values() : [app.byLogin.get(name.owner.toLowerCase())];
      for (const installation of candidates) {
        const repository =
          "id" in name
            ? installation?.byId.get(name.id)
            : installation?.byName.get(name.name.toLowerCase());
        if (installation !== undefined && repository !== undefined)
          return { installation, repository };
      }
    }
    return undefined;
  }

  install(appId: number, spec: InstallationSpec): void {
    const app = this.#known(appId);
    this.#claim(spec.id, appId);
    this.#withInstallations(app, [
      ...app.installations.values(),
      compileInstallation(app.spec, spec),
    ]);
  }

  uninstall(installationId: number): void {
    const found = this.installation(installationId);
    this.#appOf.delete(installationId);
    if (found !== undefined)
      this.#withInstallations(
        found.app,
        [...found.app.installations.values()].filter((each) => each !== found.installation),
      );
  }

  change(installationId: number, members: Partial<Omit<InstallationSpec, "id">>): void {
    const found = this.installation(installationId);
    if (found === undefined)
      throw new StewardError(
        "not_found",
        `installation ${installationId} is not known to the code host's simulator`,
      );
    const changed = compileInstallation(found.app.spec, { ...found.installation.spec, ...members });
    this.#withInstallations(
      found.app,
      [...found.app.installations.values()].map((each) =>
        each === found.installation ? changed : each,
      ),
    );
  }

  rename(installationId: number, login: string): void {
    const account = this.installation(installationId)?.installation.spec.account;
    if (account === undefined)
      throw new StewardError(
        "not_found",
        `installation ${installationId} is not known to the code host's simulator`,
      );
    this.change(installationId, {
      account: {
        ...account,
        login,
        formerLogins: [...(account.formerLogins ?? []), account.login],
      },
    });
  }

  replaceKeys(appId: number, publicKeys: AppSpec["publicKeys"]): void {
    const app = this.#known(appId);
    this.#apps.set(appId, {
      ...app,
      spec: { ...app.spec, publicKeys },
      keys: publicKeys.map(readKey),
    });
  }

  // The object stays the same under a change of installations: what its key signed is still its
  // own.
  #withInstallations(app: App, installations: readonly Installation[]): void {
    Object.assign(app, indexInstallations(installations));
  }

  #known(appId: number): App {
    const app = this.#apps.get(appId);
    if (app === undefined)
      throw new StewardError(
        "not_found",
        `app ${appId} is not registered at the code host's simulator`,
      );
    return app;
  }

  #claim(installationId: number, appId: number): void {
    if (this.#appOf.has(installationId))
      throw new StewardError("conflict", `installation ${installationId} exists already`);
    this.#appOf.set(installationId, appId);
  }
}

function compileApp(spec: AppSpec): App {
  return {
    spec,
    keys: spec.publicKeys.map(readKey),
    ...indexInstallations(spec.installations.map((each) => compileInstallation(spec, each))),
  };
}

function indexInstallations(
  installations: readonly Installation[],
): Pick<App, "installations" | "byLogin" | "byFormerLogin"> {
  return {
    installations: new Map(installations.map((each) => [each.spec.id, each])),
    byLogin: new Map(installations.map((each) => [each.account.login.toLowerCase(), each])),
    byFormerLogin: new Map(
      installations.flatMap((each) =>
        (each.spec.account.formerLogins ?? []).map((login) => [login.toLowerCase(), each] as const),
      ),
    ),
  };
}

function readKey(key: string | KeyObject): KeyObject {
  try {
    const read = typeof key === "string" ? createPublicKey(key) : key;
    if (read.asymmetricKeyType === "rsa") return read;
  } catch (error) {
    throw new StewardError("invalid", "an app's public key must be an RSA key in PEM", {
      cause: error,
    });
  }
  throw new StewardError(
    "invalid",
    "an app's public key must be an RSA key, for its JWTs are signed with RS256",
  );
}
