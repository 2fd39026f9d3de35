/** The auth backends by their types, as the house mounts them. */
import type { Backend, BackendFactory } from "../../logical/types.ts";
import { createApproleBackend } from "./approle/backend.ts";
import type { AuthDeps } from "./deps.ts";
import { createTokenBackend } from "./token/backend.ts";

/** Makes auth backends. */
export interface AuthFactories {
  /** The one behind `auth/token/`, which is always there. */
  readonly token: (deps: AuthDeps) => Backend;
  /** Those that can be mounted, by type. */
  readonly mountable: (deps: AuthDeps) => Readonly<Record<string, BackendFactory>>;
}

/** All there are. */
export const authFactories: AuthFactories = {
  token: createTokenBackend,
  mountable: (deps) => ({ approle: (host) => createApproleBackend(deps, host) }),
};
