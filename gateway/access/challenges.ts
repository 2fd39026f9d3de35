/** Challenges of answers without a valid credential (RFC 9110 §11.6.1). */

/**
 * The operator's token, as Bearer or as the password of HTTP Basic. Each is a header line of its own:
 * Chromium reads several challenges in one line as one of an unknown scheme, and asks for no login.
 */
export const OPERATOR_CHALLENGES: readonly [bearer: string, basic: string] = [
  'Bearer realm="steward"',
  'Basic realm="steward"',
];
