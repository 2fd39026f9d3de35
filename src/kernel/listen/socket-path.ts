/** What both sides of a Unix socket must know: the path's limit, and the owner's socket. */

/** Linux takes no longer path of a Unix socket. */
export const MAX_SOCKET_PATH_BYTES = 107;

/** In the state folder; answers whoever may use that folder, without a credential. */
export const OWNER_SOCKET = "steward.sock";
