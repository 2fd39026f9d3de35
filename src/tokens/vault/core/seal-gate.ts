/**
 * Admits requests while the store is unsealed; five paths also work while it is sealed. Counts
 * requests in progress, so that sealing can wait for them.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Backend } from "../../logical/types.ts";
import { OPEN_BODY_BYTES } from "./admission.ts";
import { RequestsInProgress } from "./requests-in-progress.ts";
import type { Core, CoreAnswer, CoreRequest } from "./types.ts";

const STATUS_PATHS: ReadonlySet<string> = new Set([
  "sys/health",
  "sys/seal-status",
  "sys/init",
  "sys/unseal",
  "sys/leader",
]);

export interface SealGateDeps {
  /** Handles the five paths, below `sys/`. */
  readonly status: Backend;
  readonly ids: Ids;
}

/** A core that can be opened and closed. */
export interface SealGate extends Core {
  /** Admits requests from now on. */
  open(core: Core): void;
  /** Rejects new requests. Resolves when those in progress have finished. */
  close(): Promise<void>;
  isOpen(): boolean;
}

/** Starts closed. */
export function createSealGate({ status, ids }: SealGateDeps): SealGate {
  let inside: Core | undefined;
  const requests = new RequestsInProgress();

  return {
    async handle(request) {
      if (STATUS_PATHS.has(request.path)) return bare(status, ids, request);
      if (inside === undefined) throw new StewardError("sealed", "Vault is sealed");
      using _request = requests.enter();
      return await inside.handle(request);
    },
    isLive: (token) => inside?.isLive(token) === true,
    maxBodyBytes: (head) =>
      STATUS_PATHS.has(head.path) ? OPEN_BODY_BYTES : (inside?.maxBodyBytes(head) ?? 0),
    open: (core) => void (inside = core),
    close() {
      inside = undefined;
      return requests.none();
    },
    isOpen: () => inside !== undefined,
  };
}

/** Handled without token, policy or audit, as in Vault. */
async function bare(status: Backend, ids: Ids, request: CoreRequest): Promise<CoreAnswer> {
  const requestId = ids.uuid();
  const response = await status.handle({
    id: requestId,
    operation: request.verb === "write" ? "update" : request.verb,
    path: request.path.slice("sys/".length),
    data: request.data,
    mountPoint: "sys/",
    signal: request.signal,
    ...(request.remote === undefined ? {} : { remote: request.remote }),
  });
  return {
    requestId,
    isRead: request.verb !== "write" && request.verb !== "delete",
    response,
    lease: undefined,
    auth: undefined,
    wrap: undefined,
    warnings: response?.warnings ?? [],
    copyToTop: false,
  };
}
