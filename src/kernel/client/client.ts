/** The client of an external HTTP API: combines the parts and serves calls and lists. */
import type { Clock } from "../base/clock.ts";
import { assert, StewardError } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { parseValue } from "../json/values.ts";
import { readWhole } from "./http/body.ts";
import { alwaysClosed, createBreaker } from "./call/breaker.ts";
import type { Prepared } from "./http/exchange.ts";
import { createLedger } from "./call/ledger.ts";
import { listPages } from "./call/list.ts";
import { openStream } from "./call/stream.ts";
import { perform, type PerformDeps } from "./call/perform.ts";
import { createRetryBudget, unlimitedRetries } from "./call/retry.ts";
import { createSkew, type Skew } from "./http/skew.ts";
import { createTransport } from "./http/transport.ts";
import type { CallRequest, Client, ClientFactory, ClientSpec, Reply } from "./types.ts";
import { addressOf, checkBase } from "./http/url.ts";
import { createSemaphore } from "../async/semaphore.ts";

/** Shared by all clients. */
export interface ClientDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Steward's version, for `User-Agent: steward/<version>`. */
  readonly version: string;
}

export function createClientFactory(deps: ClientDeps): ClientFactory {
  return { create: (spec) => createClient(spec, deps) };
}

function createClient(spec: ClientSpec, deps: ClientDeps): Client {
  checkBase(spec.name, spec.base);
  const { clock } = deps;
  const transport = createTransport(spec.base, {
    connections: spec.limits.connections,
    connectMs: spec.limits.connectMs,
    trust: spec.trust,
    socketPath: spec.socketPath,
  });
  const ledger = createLedger(() => clock.now());
  const skew = createSkew(clock);
  const parts = partsOf(spec, deps, { transport, ledger, skew });
  const closing = new AbortController();
  const calls = createSemaphore(spec.limits.inFlight);

  /** Counts a call until disposed. */
  function enter(): Disposable {
    closing.signal.throwIfAborted();
    const slot = calls.tryAcquire();
    if (slot !== undefined) return slot;
    throw new StewardError(
      "exhausted",
      `${spec.name}: ${calls.held} calls are already in flight; retry later`,
      { retryAfterMs: 1_000 },
    );
  }

  return {
    async call(request, signal) {
      using _place = enter();
      return await callOnce(parts, request, AbortSignal.any([signal, closing.signal]));
    },
    async *items(request, signal) {
      using _place = enter();
      yield* listPages(parts, request, AbortSignal.any([signal, closing.signal]));
    },
    async stream(request, signal) {
      const slot = enter();
      const released = (): void => slot[Symbol.dispose]();
      try {
        const prepared = prepare(spec, { ...request, read: "bytes" });
        return await openStream(
          parts,
          { operation: request.operation, prepared, released },
          AbortSignal.any([signal, closing.signal]),
        );
      } catch (error) {
        released();
        throw error;
      }
    },
    status: () => ledger.rows(),
    skewMs: () => skew.skewMs(),
    async close() {
      closing.abort(new StewardError("cancelled", `the client of ${spec.name} is closed`));
      await transport.close();
    },
  };
}

type Shared = {
  readonly transport: ReturnType<typeof createTransport>;
  readonly ledger: ReturnType<typeof createLedger>;
  readonly skew: Skew;
};

function partsOf(
  spec: ClientSpec,
  deps: ClientDeps,
  { transport, ledger, skew }: Shared,
): PerformDeps {
  const { clock, ids } = deps;
  const breaker =
    spec.breaker === "none"
      ? alwaysClosed
      : createBreaker(spec.breaker ?? { failures: 10, coolMs: 10_000 }, clock);
  return {
    spec,
    clock,
    ids,
    budget: spec.retry.budget === "none" ? unlimitedRetries : createRetryBudget(),
    exchange: {
      transport,
      auth: spec.auth,
      limits: spec.limits,
      redirects: spec.redirects,
      userAgent: `steward/${deps.version}`,
      now: () => clock.now(),
    },
    attempt: { client: spec.name, clock, ledger, breaker, skew, observe: spec.observe },
  };
}

async function callOnce(
  parts: PerformDeps,
  request: CallRequest,
  signal: AbortSignal,
): Promise<Reply> {
  const { limits } = parts.spec;
  const json = request.read !== "bytes";
  const prepared = prepare(parts.spec, request);
  return perform(
    parts,
    {
      operation: request.operation,
      prepared,
      settled: request.settled,
      consume: async ({ status, headers, body }, attempt) => {
        const whole = await readWhole(body);
        const value = json && whole.length > 0 ? parseValue(whole, limits.json) : undefined;
        return {
          status,
          headers,
          body: whole,
          value,
          attempts: attempt.number,
          durationMs: attempt.succeed(),
        };
      },
    },
    signal,
  );
}

function prepare(spec: ClientSpec, request: CallRequest): Prepared {
  for (const name of Object.keys(request.headers ?? {}))
    assert(
      !["authorization", "host", "cookie"].includes(name.toLowerCase()),
      `a call does not set the header ${name} itself`,
    );
  return {
    address: addressOf(spec.base, request.path, request.query),
    method: request.method,
    headers: request.headers ?? {},
    body: request.body,
    accept: request.accept ?? (request.read === "bytes" ? "*/*" : "application/json"),
    idempotent: request.idempotent,
  };
}
