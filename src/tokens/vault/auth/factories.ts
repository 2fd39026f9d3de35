/** Auth backends by type. */
import type { Backend, BackendFactory } from "../../logical/types.ts";
import { createApproleBackend } from "./approle/backend.ts";
import { createJwtBackend } from "./jwt/backend.ts";
import type { AuthDeps } from "./deps.ts";
import { createTokenBackend } from "./token/backend.ts";

export interface AuthFactories {
  /** The backend of `auth/token/`, which always exists. */
  readonly token: (deps: AuthDeps) => Backend;
  /** Mountable backends, by type. */
  readonly mountable: (deps: AuthDeps) => Readonly<Record<string, BackendFactory>>;
}

export const authFactories: AuthFactories = {
  token: createTokenBackend,
  mountable: (deps) => ({
    approle: (host) => createApproleBackend(deps, host),
    jwt: (host) => createJwtBackend(deps, host),
  }),
};
