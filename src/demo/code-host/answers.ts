/** The answers of the host before they are sent, and the wording of its refusals. */
import type { Operation } from "./routes.ts";

/** An answer: JSON text or nothing. */
export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ROOT = "https://docs.github.com/rest";

/** The manual page of each operation, as its refusals quote it. */
const PAGES: Readonly<Record<Operation, string>> = {
  app: `${ROOT}/apps/apps#get-the-authenticated-app`,
  installations: `${ROOT}/apps/apps#list-installations-for-the-authenticated-app`,
  installation: `${ROOT}/apps/apps#get-an-installation-for-the-authenticated-app`,
  org_installation: `${ROOT}/apps/apps#get-an-organization-installation-for-the-authenticated-app`,
  user_installation: `${ROOT}/apps/apps#get-a-user-installation-for-the-authenticated-app`,
  enterprise_installation: `${ROOT}/apps/apps#get-an-enterprise-installation-for-the-authenticated-app`,
  repo_installation: `${ROOT}/apps/apps#get-a-repository-installation-for-the-authenticated-app`,
  mint: `${ROOT}/apps/apps#create-an-installation-access-token-for-an-app`,
  revoke: `${ROOT}/apps/installations#revoke-an-installation-access-token`,
  repositories: `${ROOT}/apps/installations#list-repositories-accessible-to-the-app-installation`,
  repository: `${ROOT}/repos/repos#get-a-repository`,
  rate_limit: `${ROOT}/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user`,
  unknown: ROOT,
};

/** Whatever is no 2xx. */
export function refusal(
  status: number,
  message: string,
  options: { page?: string; headers?: Record<string, string>; errors?: readonly unknown[] } = {},
): Reply {
  const body = {
    message,
    ...(options.errors === undefined ? {} : { errors: options.errors }),
    documentation_url: options.page ?? ROOT,
    status: String(status),
  };
  return {
    status,
    body: JSON.stringify(body),
    ...(options.headers === undefined ? {} : { headers: options.headers }),
  };
}

/** A refusal that quotes the operation's page. */
export function refusalOf(operation: Operation, status: number, message: string): Reply {
  return refusal(status, message, { page: PAGES[operation] });
}

/** 404: not there, or not for this caller. */
export function notFound(operation: Operation): Reply {
  return refusalOf(operation, 404, "Not Found");
}

/** 401 for a wrong, expired or revoked token. */
export function badCredentials(): Reply {
  return refusal(401, "Bad credentials");
}

/** 403: the account's owner has paused the app. */
export function suspended(operation: Operation): Reply {
  return refusalOf(operation, 403, "This installation has been suspended");
}

/** 301 to where a renamed thing is now. */
export function moved(url: string): Reply {
  const body = JSON.stringify({
    message: "Moved Permanently",
    url,
    documentation_url: `${ROOT}/guides/best-practices-for-using-the-rest-api#follow-redirects`,
  });
  return { status: 301, body, headers: { location: url } };
}

/** 403 without a `User-Agent`: plain text, as upstream. */
export const NO_USER_AGENT: Reply = {
  status: 403,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: "\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check https://developer.github.com for other possible causes.\r\n",
};
