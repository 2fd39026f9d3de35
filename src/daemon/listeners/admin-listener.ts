/**
 * The separate listener of the admin API (`admin.listen`). A port in use does not stop the start:
 * opening it is retried for as long as the process runs, and readiness reports it.
 */
import { createGateway, type Gateway, type GatewayDeps } from "../../../gateway/gateway.ts";
import { delay, systemClock, type Clock } from "../../kernel/base/clock.ts";
import { ownMessage } from "../../kernel/base/errors.ts";
import { adminEnabled, adminListen, adminTls } from "../config/admin-keys.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { CertificateStatus } from "../../kernel/listen/tls/certificates.ts";
import type { ListenTls } from "../../kernel/listen/listener.ts";
import type { Component, Health } from "../../kernel/supervisor/component.ts";
import { backoffMs, type Backoff } from "../../kernel/async/backoff.ts";

const RETRY: Backoff = { firstMs: 500, maxMs: 10_000 };

/** Also reports the listener's certificate, if it has one. */
export interface AdminListener extends Component {
  certificate(): CertificateStatus | undefined;
}

/** Undefined when `admin.listen` is empty. `deps` is called at each attempt to open the port. */
export function adminListener(
  config: Config,
  needs: readonly string[],
  deps: () => GatewayDeps,
  clock: Clock = systemClock,
): AdminListener | undefined {
  const address = config.get(adminListen);
  if (address === undefined || !config.get(adminEnabled)) return undefined;
  const stopping = new AbortController();
  let listener: Gateway | undefined;
  let health: Health = { ok: true };
  let opening: Promise<void> = Promise.resolve();
  const open = async (tried: () => void): Promise<void> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt += 1) {
      const waitMs = backoffMs(attempt, RETRY);
      const given = deps();
      const next = createGateway({ ...given, surface: "admin" }, { address, ...tlsOf(config) });
      try {
        await next.start();
        if (stopping.signal.aborted) return await next.stop(0);
        [listener, health] = [next, { ok: true }];
        return;
      } catch (error) {
        health = { ok: false, reason: ownMessage(error) };
        given.log.error("the admin listener cannot listen; retrying", { error, waitMs });
        await next.stop(0);
      } finally {
        tried();
      }
      await delay(clock, waitMs, stopping.signal).catch(() => undefined);
    }
  };
  return {
    name: "admin",
    needs,
    readiness: "required",
    health: () => health,
    certificate: () => listener?.certificate(),
    start: () =>
      new Promise((resolve, reject) => {
        opening = open(resolve);
        opening.catch(reject);
      }),
    async stop(deadlineMs) {
      stopping.abort();
      await opening.catch(() => undefined);
      await listener?.stop(deadlineMs);
    },
  };
}

function tlsOf(config: Config): { readonly tls?: ListenTls } {
  const [certFile, keyFile] = [config.get(adminTls.certFile), config.get(adminTls.keyFile)];
  return certFile === "" ? {} : { tls: { certFile, keyFile } };
}
