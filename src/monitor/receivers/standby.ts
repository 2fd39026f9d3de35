/**
 * The receivers of a replica that does not hold the lease: they listen, and ask every sender to try
 * again, without reading a body.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { ServerRequest, ServerResponse } from "../../kernel/listen/exchange.ts";
import { send } from "./answer.ts";
import type { ReceiverOptions, ReceiversOptions } from "./options.ts";
import { createReceiverPort, type ReceiverPort, type ReceiverSpec } from "./receiver-port.ts";
import { receiversOf, type Receivers } from "./receivers.ts";

const BODY = "this replica is on standby; try again\n";

export function createStandbyReceivers(
  deps: { readonly clock: Clock; readonly log: Log },
  { stream, webhook }: ReceiversOptions,
  retryAfterMs: number,
): Receivers {
  const refuse = (request: ServerRequest, response: ServerResponse): void =>
    send(request, response, {
      status: 503,
      contentType: "text/plain; charset=utf-8",
      headers: { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) },
      body: BODY,
    });
  const spec = (
    name: "stream" | "webhook",
    setting: string,
    credential: boolean,
  ): ReceiverSpec => ({
    name,
    setting,
    // Nobody's body is read, so nobody owns a share of it.
    share: "stranger",
    bodies: 1,
    credential,
    needs: [],
    classify: () => ({ share: "stranger", kind: "request", address: undefined }),
    refuse,
    handle: (request, response) => Promise.resolve(refuse(request, response)),
  });
  const open = (made: ReceiverSpec, options: ReceiverOptions): ReceiverPort =>
    createReceiverPort({ clock: deps.clock, log: deps.log.child(made.name) }, made, options);
  const guarded = stream?.routes.every(({ token }) => token !== undefined) ?? false;
  const signed = webhook?.routes.every(({ secret }) => secret !== undefined) ?? false;
  return receiversOf([
    ...(stream === undefined ? [] : [open(spec("stream", "streaming.listen", guarded), stream)]),
    ...(webhook === undefined ? [] : [open(spec("webhook", "webhook.listen", signed), webhook)]),
  ]);
}
