/** Statistics of the pull endpoint since the thread started. */
import type { CertificateStatus } from "../../../listen/tls/certificates.ts";
import type {
  GatherErrorClass,
  Observed,
  PullOutcome,
  PullRejection,
  PullView,
} from "../../status.ts";

export interface PullStatsDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly changed: () => void;
  readonly observe: (observed: Observed) => void;
}

/** Counters of requests and state of the port. */
export class PullStats {
  readonly #deps: PullStatsDeps;
  readonly #requests: Record<PullOutcome, number> = { success: 0, unavailable: 0, error: 0 };
  readonly #rejected: Record<PullRejection, number> = {
    auth_required: 0,
    missing_credentials: 0,
    bad_credentials: 0,
  };
  readonly #gatherErrors: Partial<Record<GatherErrorClass, number>> = {};
  #state: Pick<PullView, "state" | "address" | "reason"> = {
    state: "starting",
    address: undefined,
    reason: undefined,
  };
  #last: Pick<PullView, "lastAtMs" | "lastMs"> = { lastAtMs: undefined, lastMs: undefined };
  #lastError: Pick<PullView, "lastGatherError" | "lastGatherErrorAtMs"> = {
    lastGatherError: undefined,
    lastGatherErrorAtMs: undefined,
  };
  #failures = 0;
  #inFlight = 0;

  constructor(deps: PullStatsDeps) {
    this.#deps = deps;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  stand(
    state: PullView["state"],
    more: { readonly address?: string; readonly reason?: string } = {},
  ): void {
    this.#state = { state, address: more.address, reason: more.reason };
    if (state === "failed") this.#failures += 1;
    this.#deps.changed();
  }

  reject(reason: PullRejection): void {
    this.#rejected[reason] += 1;
    this.#deps.changed();
  }

  begin(): void {
    this.#inFlight += 1;
    this.#deps.changed();
  }

  /** Call for each request that began. */
  end(outcome: PullOutcome, tookMs: number): void {
    this.#inFlight -= 1;
    this.count(outcome, tookMs);
  }

  /** A request that was answered at once. */
  count(outcome: PullOutcome, tookMs: number): void {
    this.#requests[outcome] += 1;
    this.#last = { lastAtMs: this.#deps.now(), lastMs: tookMs };
    this.#deps.observe({ of: "pull", outcome, seconds: tookMs / 1_000 });
    this.#deps.changed();
  }

  gatherError(errorClass: GatherErrorClass, count: number): void {
    this.#gatherErrors[errorClass] = (this.#gatherErrors[errorClass] ?? 0) + count;
    this.#lastError = { lastGatherError: errorClass, lastGatherErrorAtMs: this.#deps.now() };
    this.#deps.changed();
  }

  view(certificate: CertificateStatus | undefined): PullView {
    return {
      ...this.#state,
      ...this.#last,
      ...this.#lastError,
      failures: this.#failures,
      inFlight: this.#inFlight,
      certificate,
      requests: { ...this.#requests },
      rejected: { ...this.#rejected },
      gatherErrors: { ...this.#gatherErrors },
    };
  }
}
