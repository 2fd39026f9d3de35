/** Reads lists page by page, each only while its elements are consumed. */
import { type Values, values } from "../../json/values.ts";
import type { Attempt } from "./attempt.ts";
import type { Opened, Prepared } from "../http/exchange.ts";
import { failed, named } from "../failure.ts";
import { perform, type PerformDeps } from "./perform.ts";
import type { ClientSpec, ListRequest, NextPage, Page } from "../types.ts";
import { addressOf, sameOrigin } from "../http/url.ts";

/**
 * Elements of all pages in batches. A page that fails before its first batch is retried like any
 * call; later it is an error.
 */
export async function* listPages(
  parts: PerformDeps,
  request: ListRequest,
  signal: AbortSignal,
): AsyncGenerator<unknown[], void, undefined> {
  let address = addressOf(parts.spec.base, request.path, request.query);
  for (let number = 1; number <= request.maxPages; number++) {
    const page = yield* onePage(parts, request, { number, address }, signal);
    const next = request.next?.(page);
    if (next === undefined) return;
    address = nextAddress(parts.spec, request, address, next);
  }
  const failure = { class: "too_large", status: 0 } as const;
  throw named(
    failed(failure, `more than ${request.maxPages} pages`),
    failure,
    parts.spec.name,
    request.operation,
  );
}

function nextAddress(spec: ClientSpec, request: ListRequest, from: URL, next: NextPage): URL {
  if ("query" in next)
    return addressOf(spec.base, request.path, { ...request.query, ...next.query });
  const address = sameOrigin(from, next.link);
  if (address !== undefined) return address;
  const failure = { class: "redirect", status: 0 } as const;
  throw named(
    failed(failure, "the link to the next page points to another host"),
    failure,
    spec.name,
    request.operation,
  );
}

/** A page whose first batch has arrived. */
interface OpenPage {
  readonly opened: Opened;
  readonly attempt: Attempt;
  readonly stream: Values;
  readonly batches: AsyncIterator<unknown[]>;
  readonly first: IteratorResult<unknown[]>;
}

async function* onePage(
  parts: PerformDeps,
  request: ListRequest,
  at: { readonly number: number; readonly address: URL },
  signal: AbortSignal,
): AsyncGenerator<unknown[], Page, undefined> {
  const { opened, attempt, stream, batches, first } = await openPage(
    parts,
    request,
    at.address,
    signal,
  );
  let elements = 0;
  try {
    for (let step = first; step.done !== true; step = await batches.next()) {
      elements += step.value.length;
      attempt.deadline.pause();
      yield step.value;
      attempt.deadline.resume();
    }
    attempt.succeed();
  } catch (error) {
    throw attempt.fail(error);
  } finally {
    // A consumer that leaves early got a good response as far as it read.
    attempt.succeed();
    opened.drop();
    void batches.return?.().catch(() => undefined);
  }
  return { number: at.number, elements, beside: stream.beside, headers: opened.headers };
}

function openPage(
  parts: PerformDeps,
  request: ListRequest,
  address: URL,
  signal: AbortSignal,
): Promise<OpenPage> {
  const { limits } = parts.spec;
  const prepared: Prepared = {
    address,
    method: "GET",
    headers: request.headers ?? {},
    body: undefined,
    accept: request.accept ?? "application/json",
    idempotent: true,
  };
  return perform(
    parts,
    {
      operation: request.operation,
      prepared,
      settled: undefined,
      consume: async (opened, attempt) => {
        const stream = values(opened.body, request.at, limits.json, {
          sliceMs: limits.sliceMs,
          signal: attempt.deadline.signal,
          missing: request.missing ?? "refuse",
          clock: parts.clock,
        });
        const batches = stream[Symbol.asyncIterator]();
        const first = await batches.next();
        return { opened, attempt, stream, batches, first };
      },
    },
    signal,
  );
}

/** Follows `Link: <…>; rel="next"` (RFC 8288). */
export function byLink(page: Page): NextPage | undefined {
  const header = page.headers["link"];
  if (header === undefined) return undefined;
  for (const [, link, parameters] of header.matchAll(/<([^<>]{1,4000})>([^<]{0,1000})/g)) {
    if (
      link !== undefined &&
      /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?:[\s;,]|$))/i.test(parameters ?? "")
    )
      return { link };
  }
  return undefined;
}
