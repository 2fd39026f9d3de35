/** Headers of a response. */

/** Names in lower case, repeated headers joined by a comma. */
export type ReplyHeaders = Readonly<Record<string, string>>;
