/** The few words that requests to clusters are counted by. */

const MUTATIONS: ReadonlySet<string> = new Set([
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
]);
const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const VERBS: ReadonlySet<string> = new Set([
  ...MUTATIONS,
  ...READS,
  "post",
  "put",
  "head",
  "options",
  "connect",
  "proxy",
]);
const SENSITIVE: ReadonlySet<string> = new Set([
  "secrets",
  "configmaps",
  "serviceaccounts",
  "roles",
  "rolebindings",
  "clusterroles",
  "clusterrolebindings",
  "certificatesigningrequests",
]);
const REVIEWS: ReadonlySet<string> = new Set([
  "selfsubjectaccessreviews",
  "selfsubjectrulesreviews",
  "subjectaccessreviews",
  "localsubjectaccessreviews",
]);
const SESSIONS: ReadonlySet<string> = new Set(["exec", "attach", "portforward"]);
const SHELLS: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "zsh",
  "ash",
  "dash",
  "ksh",
  "fish",
  "csh",
  "tcsh",
  "pwsh",
  "cmd",
  "powershell",
]);
const INTERPRETERS: ReadonlySet<string> = new Set([
  "python",
  "python2",
  "python3",
  "perl",
  "ruby",
  "node",
  "php",
  "lua",
]);
const CLIENT = /^([A-Za-z][\w.-]{0,40})(?:\/|\s|$)/;

/** Whether a verb changes something. */
export function isMutation(verb: string): boolean {
  return MUTATIONS.has(verb);
}

/** Whether a request reads what should be read by few. */
export function isSensitiveRead(verb: string, resource: string): boolean {
  return READS.has(verb) && SENSITIVE.has(resource);
}

/** Whether a request asks what somebody may do. */
export function isAccessReview(resource: string): boolean {
  return REVIEWS.has(resource);
}

/** The kind of session that a request opens. */
export function sessionTypeOf(subresource: string): string | undefined {
  return SESSIONS.has(subresource) ? subresource : undefined;
}

/** A verb, or `other`. */
export function foldVerb(verb: string): string {
  return VERBS.has(verb) ? verb : "other";
}

/** The product of a user agent, e.g. `kubectl`; versions and platforms make too many series. */
export function clientOf(userAgent: string): string {
  return userAgent === "" ? "unknown" : (CLIENT.exec(userAgent)?.[1] ?? "other");
}

/** What kind of program a command starts. */
export function commandClassOf(command: string): "none" | "shell" | "interpreter" | "other" {
  const program =
    command
      .trim()
      .split(/\s+/)[0]
      ?.split(/[/\\]/)
      .at(-1)
      ?.toLowerCase()
      .replace(/\.exe$/, "") ?? "";
  if (program === "") return "none";
  if (SHELLS.has(program)) return "shell";
  return INTERPRETERS.has(program) ? "interpreter" : "other";
}
