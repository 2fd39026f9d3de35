/** The routes of pages for administrators that show one answer of an API, e.g. `/events`. */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../../src/kernel/base/clock.ts";
import type { PlainRequest, PlainRoute } from "../../src/kernel/service.ts";
import { within } from "../until-aborted.ts";
import type { Assets } from "./assets.ts";
import { html, type View } from "./html.ts";
import type { PageState } from "./page-state.ts";
import { moment } from "./pieces/time.ts";
import { pageAnswer } from "./shell.ts";

/** The same for each page of a listener. */
export interface ReadPageOptions {
  readonly demo: boolean;
  readonly version: string;
  /** The pages of the listener. */
  readonly links: readonly { readonly href: string; readonly label: string }[];
}

/** With how often the page's island asks again, in milliseconds; 0 is the island's default. */
export interface FollowingPageOptions extends ReadPageOptions {
  readonly refreshMs: number;
}

export interface ReadPageDeps {
  readonly assets: Assets;
  readonly clock: Clock;
}

/** One page. `Facts` is what it shows, or why there is nothing to show. */
export interface ReadPage<Facts> {
  readonly template: string;
  /** Of its link in the navigation. */
  readonly here: string;
  /** The island: a browser module. */
  readonly module: string;
  /** Where the same is to be had as JSON. */
  readonly json: string;
  /** Time limit of the read; after it the page says that the read took too long. */
  readonly readMs: number;
  /** Rejects with a sentence for the reader. */
  read(request: PlainRequest, signal: AbortSignal): Promise<Facts>;
  /** In place of what could not be read. */
  unread(problem: string): Facts;
  draw(facts: Facts, state: PageState, request: PlainRequest): DrawnPage;
}

/** Title, body and data of one answer. */
interface DrawnPage {
  readonly title: string;
  readonly body: View;
  /** Data for the island. */
  readonly facts: unknown;
  /** RFC 3339, when the answer was made; undefined without an answer. */
  readonly asOf: string | undefined;
}

/** With the monitor's errors. */
export function readPageRoute<Facts>(
  page: ReadPage<Facts>,
  { assets, clock }: ReadPageDeps,
  { demo, version, links }: ReadPageOptions,
): PlainRoute {
  return {
    verb: "GET",
    template: page.template,
    access: Access.ADMIN,
    dialect: "monitor",
    async handle(request, { signal }) {
      const facts = await within(page.readMs, signal, clock, (inTime) =>
        page.read(request, inTime),
      ).catch((thrown: unknown) =>
        page.unread(thrown instanceof Error ? thrown.message : String(thrown)),
      );
      // Whole seconds: the same page in the same second has the same entity tag.
      const nowMs = Math.floor(clock.now() / 1000) * 1000;
      const state = { params: request.query, nowMs, zone: "UTC", panel: undefined };
      const { asOf, ...drawn } = page.draw(facts, state, request);
      return await pageAnswer(
        {
          ...drawn,
          demo,
          version,
          nav: links.map((link) => ({ ...link, here: link.href === page.here })),
          module: page.module,
          foot: html`<span>As of ${moment(asOf, state)}</span><a href=${page.json}>JSON</a>`,
        },
        assets,
        request.headers,
      );
    },
  };
}
