/** The receivers that the configuration switches on. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { CertificateStatus } from "../../kernel/listen/tls/certificates.ts";
import type { Tracing } from "../../kernel/telemetry/tracing/tracing.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { ReceiverEffects } from "./effects.ts";
import type { Intake } from "./intake.ts";
import type { ReceiversOptions } from "./options.ts";
import { createReceiverPort, type ReceiverPort } from "./receiver-port.ts";
import { createStreamHandler } from "./stream/handler.ts";
import type { ReceiverTarget } from "./target.ts";
import { traced } from "./traced.ts";
import { createWebhookHandler } from "./webhook/handler.ts";

/** Bodies of streams are large: two at their limit are held at the same time. */
const STREAM_BODIES = 2;

export interface ReceiversDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  /** Spans of requests; undefined while tracing is off. */
  readonly traces: Pick<Tracing, "begin"> | undefined;
  readonly targets: readonly ReceiverTarget[];
  readonly effects: ReceiverEffects;
  readonly intake: Intake;
  /** The components of the networks and of the ingress log. */
  readonly needs: readonly string[];
}

export interface Receivers {
  readonly components: readonly Component[];
  /** Those with TLS, by name. */
  certificates(): readonly { readonly name: string; readonly certificate: CertificateStatus }[];
}

export function createReceivers(deps: ReceiversDeps, options: ReceiversOptions): Receivers {
  const ports: ReceiverPort[] = [];
  const { stream, webhook } = options;
  if (stream !== undefined) {
    const log = deps.log.child("stream");
    const handler = createStreamHandler({ ...deps, log, records: deps.effects.stream }, stream);
    ports.push(
      createReceiverPort(
        { clock: deps.clock, log },
        {
          name: "stream",
          setting: "streaming.listen",
          share: "owner",
          bodies: STREAM_BODIES,
          credential: stream.routes.every(({ token }) => token !== undefined),
          needs: deps.needs,
          after: deps.intake.open,
          ...handler,
          handle: traced(
            deps,
            { name: "stream.receive", route: stream.routes[0]?.path ?? "" },
            handler.handle,
          ),
        },
        stream,
      ),
    );
  }
  if (webhook !== undefined) {
    const log = deps.log.child("webhook");
    const handler = createWebhookHandler({ ...deps, events: deps.effects.webhook }, webhook);
    ports.push(
      createReceiverPort(
        { clock: deps.clock, log },
        {
          name: "webhook",
          setting: "webhook.listen",
          share: "stranger",
          bodies: webhook.maxConcurrentRequests,
          credential: webhook.routes.every(({ secret }) => secret !== undefined),
          needs: deps.needs,
          after: deps.intake.open,
          ...handler,
          handle: traced(deps, { name: "webhook.receive", route: webhook.path }, handler.handle),
        },
        webhook,
      ),
    );
  }
  return receiversOf(ports);
}

/** Joins the receivers' ports: all their components, all their certificates. */
export function receiversOf(ports: readonly ReceiverPort[]): Receivers {
  return {
    components: ports.map(({ component }) => component),
    certificates: () =>
      ports.flatMap((port) => {
        const certificate = port.certificate();
        return certificate === undefined ? [] : [{ name: port.component.name, certificate }];
      }),
  };
}
