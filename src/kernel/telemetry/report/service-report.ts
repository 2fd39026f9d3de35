/** Reports of the pool, components and certificates, read just before a snapshot. */
import type { CertificateStatus } from "../../listen/tls/certificates.ts";
import type { Pool } from "../../pool/types.ts";
import * as metrics from "./service-metrics.ts";
import {
  certNotAfter,
  certNotBefore,
  certReloadFailures,
  certReloadLastSuccess,
  componentErrors,
} from "./self-metrics.ts";
import type { Scope } from "../types.ts";

const MILLISECONDS = 1_000;

/** Until disposed. */
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

/** Reports crashes and health of components until disposed. */
export function reportComponents(
  scope: Scope,
  components: () => Iterable<{ readonly name: string; readonly errors: number }>,
): Disposable {
  return scope.observe(() => {
    for (const { name, errors } of components())
      scope.total(componentErrors, errors, { component: name });
  });
}

/** Until disposed; nothing while the listener has no certificate. */
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
