/** The style sheets of all pages, in their order. */
export const STYLES = ["tokens.css", "base.css", "pieces.css", "page.css", "review.css"] as const;
