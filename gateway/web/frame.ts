/** The frame of one listener's pages: process facts, and links to its pages. */
import type { PlainAnswer, RequestHeaders } from "../../src/kernel/service.ts";
import type { Assets } from "./assets.ts";
import type { View } from "./html.ts";
import { pageAnswer } from "./shell.ts";

/** A page in the navigation. */
export interface PageLink {
  readonly href: string;
  readonly label: string;
}

/** The header of every page. */
export interface PageFacts {
  readonly demo: boolean;
  readonly version: string;
  /** The pages of the listener, in their order; default none. */
  readonly links?: readonly PageLink[];
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

/** Creates the frame of one listener. */
export function createFrame({ demo, version, links = [] }: PageFacts, assets: Assets): Frame {
  return {
    answer: ({ here, anybody = false, ...page }, request) =>
      pageAnswer(
        {
          ...page,
          demo,
          version: anybody ? "" : version,
          nav: links.map((link) => ({ ...link, here: link.href === here })),
        },
        assets,
        request,
      ),
  };
}
