/**
 * Content-Security-Policy of a page: allows only the declared content, inline texts by hash and
 * never `unsafe-inline`. Also prevents framing.
 */
import { createHash } from "node:crypto";

/** What a page holds and does. */
export interface PageContent {
  /** Texts of its `style` elements, letter by letter. */
  readonly styles?: readonly string[];
  /** Texts of its `script` elements, letter by letter. */
  readonly scripts?: readonly string[];
  /** It loads scripts from Steward itself. */
  readonly ownScripts?: boolean;
  /** It has images in `data:` addresses. */
  readonly dataImages?: boolean;
  /** Its scripts ask Steward. */
  readonly ownRequests?: boolean;
}

/** The policy of a page; without content, of an answer that is none. */
export function contentPolicy(content: PageContent = {}): string {
  const scripts = [...(content.ownScripts === true ? ["'self'"] : []), ...hashes(content.scripts)];
  return [
    "default-src 'none'",
    ...sources("script-src", scripts),
    ...sources("style-src", hashes(content.styles)),
    ...(content.dataImages === true ? ["img-src data:"] : []),
    ...(content.ownRequests === true ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function sources(directive: string, allowed: readonly string[]): readonly string[] {
  return allowed.length === 0 ? [] : [`${directive} ${allowed.join(" ")}`];
}

function hashes(texts: readonly string[] = []): readonly string[] {
  return texts.map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
}
