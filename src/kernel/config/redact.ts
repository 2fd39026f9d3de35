/** Removes possible secrets from URLs before they are shown. */

/** Whether a text contains a URL with something to remove, or one that cannot be parsed. */
export function holdsSecret(text: string): boolean {
  if (!text.includes("://")) return false;
  if (!URL.canParse(text)) return true;
  const { username, password, search, hash } = new URL(text);
  return username !== "" || password !== "" || search !== "" || hash !== "";
}

/** A text containing `://` without credentials, query values and fragment; other text unchanged. */
export function redactUrl(text: string): string {
  if (!text.includes("://")) return text;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "(unparseable url)";
  }
  const user = url.username === "" && url.password === "" ? "" : "redacted@";
  const names = [...url.searchParams.keys()]
    .map((name) => `${encodeURIComponent(name)}=redacted`)
    .join("&");
  // A URL without a path stays that way: `http://host`, not `http://host/`.
  const path = url.pathname === "/" && !/:\/\/[^/?#]*\//.test(text) ? "" : url.pathname;
  return `${url.protocol}//${user}${url.host}${path}${names === "" ? "" : `?${names}`}`;
}
