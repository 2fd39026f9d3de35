/**
 * A control plane from plain values, for tests of collectors: every answer can be changed between
 * runs, and calls are kept.
 */
import { classifyStatus, failed } from "../../../src/kernel/client/failure.ts";
import type { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Provider, ProviderCalls, CallName } from "../../../src/monitor/providers/provider.ts";
import { callNames } from "../../../src/monitor/providers/tailscale/calls.ts";

/** What a call resolves with; `"none"` for undefined, and the batches of a log. */
type Result<R> =
  R extends AsyncIterable<unknown>
    ? readonly (readonly unknown[])[]
    : undefined extends Awaited<R>
      ? Exclude<Awaited<R>, undefined> | "none"
      : Awaited<R>;
type Asked<F> = F extends (...args: [...infer A, AbortSignal]) => unknown ? A : never;

/**
 * What the control plane answers: a value, or a function of what is asked, which may throw or wait.
 * What is missing fails with status 404.
 */
export type Answers = {
  -readonly [K in CallName]?: Answer<Result<ReturnType<ProviderCalls[K]>>, Asked<ProviderCalls[K]>>;
} & { networkName?: Answer<string, []> };

type Answer<T, A extends readonly unknown[]> =
  | T
  | ((...asked: readonly [...A, AbortSignal]) => T | Promise<T>);

/** The provider, what it answers and what it was asked. */
export interface FakeProvider extends Provider {
  /** Changed at will. */
  readonly answers: Answers;
  /** E.g. `devicePosture 17`, in order. */
  readonly calls: string[];
}

/** The error of a client whose upstream answered with this status. */
export function failing(status: number): StewardError {
  return failed({ class: classifyStatus(status, {}), status });
}

/** A control plane that answers so. `overridden` takes the place of whole methods. */
export function createFakeProvider(
  answers: Answers,
  {
    unsupported = [],
    ...overridden
  }: Partial<Provider> & { readonly unsupported?: readonly CallName[] } = {},
): FakeProvider {
  const calls: string[] = [];
  const ask = async (name: keyof Answers, asked: readonly unknown[]): Promise<unknown> => {
    (asked.at(-1) as AbortSignal).throwIfAborted();
    const shown = asked
      .slice(0, -1)
      .map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
    calls.push([name, ...shown].join(" "));
    const answer: unknown = answers[name];
    if (answer === undefined) throw failing(404);
    const result: unknown =
      typeof answer === "function"
        ? await (answer as (...asked: readonly unknown[]) => unknown)(...asked)
        : answer;
    return result === "none" ? undefined : result;
  };
  const answering = (name: keyof Answers) =>
    logs.has(name)
      ? (...asked: readonly unknown[]) => batches(() => ask(name, asked))
      : (...asked: readonly unknown[]) => ask(name, asked);
  const provider = {
    ...(Object.fromEntries(
      callNames.map((name) => [name, answering(name)]),
    ) as unknown as ProviderCalls),
    kind: "tailscale",
    granted: { method: "oauth", scopes: ["all:read"] },
    supports: (call) => !unsupported.includes(call),
    networkName: answering("networkName") as Provider["networkName"],
    status: () => [],
    close: async () => undefined,
  } satisfies Provider;
  return { ...provider, ...overridden, answers, calls };
}

/** Answered batch by batch. */
const logs: ReadonlySet<keyof Answers> = new Set(["flowLogs", "auditLogs"]);

async function* batches(ask: () => Promise<unknown>): AsyncIterable<unknown[]> {
  for (const batch of (await ask()) as readonly (readonly unknown[])[]) yield [...batch];
}
