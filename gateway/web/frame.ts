/**
 * The frame of one listener's pages: process facts, and links to the pages that this listener
 * serves.
 */
import type { PlainAnswer, RequestHeaders } from "../../src/kernel/service.ts";
import type { Assets } from "./assets.ts";
import type { View } from "./html.ts";
import { pageAnswer } from "./shell.ts";

/** Process facts in the header of every page. */
export interface PageFacts {
  readonly demo: boolean;
  readonly version: string;
  /** Whether a language model makes suggestions; default false. */
  readonly ai?: boolean;
}

/** One page in the frame. */
interface FramedPage {
  readonly title: string;
  readonly body: View;
  /** The island: name of a browser module. */
  readonly module: string;
  /** Default 200. */
  readonly status?: number;
  /** The path of the page itself, where it has a link. */
  readonly here?: string;
  /** Omits the version: the page is open to everybody. */
  readonly anybody?: boolean;
}

/** Answers with pages. */
export interface Frame {
  answer(page: FramedPage, request: RequestHeaders): Promise<PlainAnswer>;
}

/** The pages, and what is at `/` of this listener. */
export interface FrameOptions {
  readonly home: "Status" | "Overview";
  /** Whether this listener has a page at a path. */
  serves(path: string): boolean;
}

/** Creates the frame of one listener. */
export function createFrame(
  { demo, version, ai = false }: PageFacts,
  assets: Assets,
  options: FrameOptions,
): Frame {
  const nav = [
    { href: "/", label: options.home },
    { href: "/events", label: "Events" },
    { href: "/duplicates", label: "Duplicates" },
    { href: "/documents", label: "Documents" },
    ...(ai ? [{ href: "/suggestions", label: "Suggestions" }] : []),
    { href: "/docs", label: "API" },
  ].filter(({ href }) => options.serves(href));
  return {
    answer: ({ here, anybody = false, ...page }, request) =>
      pageAnswer(
        {
          ...page,
          demo,
          version: anybody ? "" : version,
          nav: nav.map((link) => ({ ...link, here: link.href === here })),
        },
        assets,
        request,
      ),
  };
}
