/** The page for an unknown path opened in a browser; programs get the error of their API. */
import type { PlainAnswer, RequestHeaders } from "../../src/kernel/service.ts";
import type { Frame } from "./frame.ts";
import { html } from "./html.ts";

/** Paths of APIs, whatever the client accepts. */
const API = /^\/(api|v1)(\/|$)|^\/(steward|grpc)\./;
const SHOWN_CHARS = 200;

/** The part of a request that the page depends on. */
interface PageRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: RequestHeaders;
}

/** Whether a browser navigates to a page: it then accepts `text/html`, unlike scripts. */
export function wantsPage({ method, path, headers }: PageRequest): boolean {
  if ((method !== "GET" && method !== "HEAD") || API.test(path)) return false;
  return [headers["accept"]]
    .flat()
    .join(",")
    .toLowerCase()
    .split(",")
    .some((part) => {
      const [type, ...parameters] = part.split(";").map((piece) => piece.trim());
      return (
        type === "text/html" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
      );
    });
}

/** Status 404. `hint` is what a program would read beside "not found". */
export function notFoundAnswer(
  frame: Frame,
  { path, headers }: Omit<PageRequest, "method">,
  hint: string,
): Promise<PlainAnswer> {
  const shown = path.length > SHOWN_CHARS ? `${path.slice(0, SHOWN_CHARS)}…` : path;
  const body = html`<div class="stack"><section class="part"><h2>Page not found</h2>
    <p>There is no page at <code>${shown}</code>. Check the address, or go to the <a href="/">start page</a>.</p>
    ${hint === "" ? undefined : html`<p class="note">${hint}</p>`}
  </section></div>`;
  return frame.answer(
    { title: "Page not found", status: 404, module: "plain.js", body, anybody: true },
    headers,
  );
}
