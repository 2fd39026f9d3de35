/** Takes what may be secret out of addresses before they are shown. */

/** Whether a text holds an address with something to take out, or one that cannot be judged. */
export function holdsSecret(text: string): boolean {
  if (!text.includes("://")) return false;
  if (!URL.canParse(text)) return true;
  const { username, password, search, hash } = new URL(text);
  return username !== "" || password !== "" || search !== "" || hash !== "";
}

/** A text that holds `://` without credentials, query values and fragment; other text as it is. */
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
  // An address without a path keeps its plain form: `http://host`, not `http://host/`.
  const path = url.pathname === "/" && !/:\/\/[^/?#]*\//.test(text) ? "" : url.pathname;
  return `${url.protocol}//${user}${url.host}${path}${names === "" ? "" : `?${names}`}`;
}
