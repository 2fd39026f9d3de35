/** The full object of a repository, about 6 KB, as tokens for selected repositories carry it. */
import { accountObject, nodeId, type Account } from "./account.ts";
import type { RepositorySpec } from "../types.ts";

/**
 * Members of `/repos/OWNER/NAME` that are addresses: member without `_url`, and what follows the
 * repository's own address.
 */
const ADDRESSES: readonly (readonly [string, string])[] = [
  ["forks", "/forks"],
  ["keys", "/keys{/key_id}"],
  ["collaborators", "/collaborators{/collaborator}"],
  ["teams", "/teams"],
  ["hooks", "/hooks"],
  ["issue_events", "/issues/events{/number}"],
  ["events", "/events"],
  ["assignees", "/assignees{/user}"],
  ["branches", "/branches{/branch}"],
  ["tags", "/tags"],
  ["blobs", "/git/blobs{/sha}"],
  ["git_tags", "/git/tags{/sha}"],
  ["git_refs", "/git/refs{/sha}"],
  ["trees", "/git/trees{/sha}"],
  ["statuses", "/statuses/{sha}"],
  ["languages", "/languages"],
  ["stargazers", "/stargazers"],
  ["contributors", "/contributors"],
  ["subscribers", "/subscribers"],
  ["subscription", "/subscription"],
  ["commits", "/commits{/sha}"],
  ["git_commits", "/git/commits{/sha}"],
  ["comments", "/comments{/number}"],
  ["issue_comment", "/issues/comments{/number}"],
  ["contents", "/contents/{+path}"],
  ["compare", "/compare/{base}...{head}"],
  ["merges", "/merges"],
  ["archive", "/{archive_format}{/ref}"],
  ["downloads", "/downloads"],
  ["issues", "/issues{/number}"],
  ["pulls", "/pulls{/number}"],
  ["milestones", "/milestones{/number}"],
  ["notifications", "/notifications{?since,all,participating}"],
  ["labels", "/labels{/name}"],
  ["releases", "/releases{/id}"],
  ["deployments", "/deployments"],
];

/** JSON text of a repository. `api` is the base of API addresses, `web` that of pages. */
export function repositoryText(
  spec: RepositorySpec,
  owner: Account,
  api: string,
  web: string,
): string {
  const fullName = `${owner.login}/${spec.name}`;
  const url = `${api}/repos/${fullName}`;
  const page = `${web}/${fullName}`;
  const hidden = spec.private ?? true;
  return JSON.stringify({
    id: spec.id,
    node_id: nodeId("R", spec.id),
    name: spec.name,
    full_name: fullName,
    private: hidden,
    owner: accountObject(owner, api, web),
    html_url: page,
    description: spec.description ?? null,
    fork: false,
    url,
    ...Object.fromEntries(ADDRESSES.map(([member, rest]) => [`${member}_url`, `${url}${rest}`])),
    created_at: "2021-09-14T08:30:12Z",
    updated_at: "2025-02-27T16:44:05Z",
    pushed_at: "2025-03-03T18:20:41Z",
    git_url: `git://${page.replace(/^\w+:\/\//, "")}.git`,
    ssh_url: `git@${hostOf(web)}:${fullName}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    mirror_url: null,
    homepage: null,
    size: 14_208,
    stargazers_count: 3,
    watchers_count: 3,
    language: "TypeScript",
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: false,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    archived: false,
    disabled: false,
    open_issues_count: 7,
    license: {
      key: "apache-2.0",
      name: "Apache License 2.0",
      spdx_id: "Apache-2.0",
      url: `${api}/licenses/apache-2.0`,
      node_id: "MDc6TGljZW5zZTI=",
    },
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: ["example"],
    visibility: hidden ? "private" : "public",
    forks: 0,
    open_issues: 7,
    watchers: 3,
    default_branch: spec.defaultBranch ?? "main",
    permissions: { admin: false, maintain: false, push: false, triage: false, pull: false },
  });
}

function hostOf(web: string): string {
  return web.replace(/^\w+:\/\//, "").replace(/:\d+$/, "");
}
