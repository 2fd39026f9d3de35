/** Bounded label values for Kubernetes requests. */

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

/** Whether the verb is mutating. */
export function isMutation(verb: string): boolean {
  return MUTATIONS.has(verb);
}

/** Whether the request reads sensitive resources. */
export function isSensitiveRead(verb: string, resource: string): boolean {
  return READS.has(verb) && SENSITIVE.has(resource);
}

/** Whether the request is an access review. */
export function isAccessReview(resource: string): boolean {
  return REVIEWS.has(resource);
}

/** Kind of session that the request opens. */
export function sessionTypeOf(subresource: string): string | undefined {
  return SESSIONS.has(subresource) ? subresource : undefined;
}

/** A known verb, or `other`. */
export function foldVerb(verb: string): string {
  return VERBS.has(verb) ? verb : "other";
}

/** Product of a user agent, e.g. `kubectl`; version and platform would create too many series. */
export function clientOf(userAgent: string): string {
  return userAgent === "" ? "unknown" : (CLIENT.exec(userAgent)?.[1] ?? "other");
}

/** Class of program that the command starts. */
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
