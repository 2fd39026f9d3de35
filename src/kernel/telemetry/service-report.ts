/**
 * Reporters of the house: what costs nothing to read is read just before a snapshot, and only then.
 */
import type { CertificateStatus } from "../listen/certificates.ts";
import type { Pool } from "../pool/types.ts";
import * as metrics from "./service-metrics.ts";
import {
  certNotAfter,
  certNotBefore,
  certReloadFailures,
  certReloadLastSuccess,
  componentErrors,
} from "./self-metrics.ts";
import type { Scope } from "./types.ts";

const MILLISECONDS = 1_000;

/** Reports a worker pool until disposed. */
export function reportPool(scope: Scope, pool: Pick<Pool, "status">): Disposable {
  return scope.observe(() => {
    const { threads, running, queued, limit, crashed } = pool.status();
    scope.gauge(metrics.poolThreads, threads, {});
    scope.gauge(metrics.poolRunning, running, {});
    scope.gauge(metrics.poolQueued, queued, {});
    scope.gauge(metrics.poolLimit, limit, {});
    scope.total(metrics.poolCrashes, crashed, {});
  });
}

/**
 * Reports failures of components until disposed: their crashes, and what they tell of themselves.
 */
export function reportComponents(
  scope: Scope,
  components: () => Iterable<{ readonly name: string; readonly errors: number }>,
): Disposable {
  return scope.observe(() => {
    for (const { name, errors } of components())
      scope.total(componentErrors, errors, { component: name });
  });
}

/** Reports the certificate of a listener until disposed; nothing while it has none. */
export function reportCertificate(
  scope: Scope,
  component: string,
  certificate: () => CertificateStatus | undefined,
): Disposable {
  return scope.observe(() => {
    const status = certificate();
    if (status === undefined) return;
    scope.gauge(certNotBefore, status.notBefore / MILLISECONDS, { component });
    scope.gauge(certNotAfter, status.notAfter / MILLISECONDS, { component });
    scope.gauge(certReloadLastSuccess, status.loadedAt / MILLISECONDS, { component });
    scope.total(certReloadFailures, status.failures, { component });
  });
}
