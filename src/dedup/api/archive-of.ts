/** Which archive a request means, and the refusal where an archive is no Paperless-ngx. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Archive } from "../archives/archive.ts";
import type { PaperlessWriter } from "../paperless/writer.ts";

type Archives = readonly Pick<Archive, "name" | "kind" | "writer">[];

const DELETE_PLAN =
  "accept its groups with POST /api/v1/delete-plan/accept, download the plan from GET /api/v1/export/delete-plan.json and run steward dedup --apply-plan";

/** Steward changes no archive of this kind by itself. `what` is the beginning of a sentence. */
export function notInPaperless(what: string, kind: Archive["kind"] | undefined): StewardError {
  const [reason, remedy] =
    kind === "folder"
      ? ["a folder, whose files only the command line deletes", DELETE_PLAN]
      : kind === undefined
        ? ["not configured any more", "add it to dedup.archives, or sync with force to forget it"]
        : [
            "a JSON Lines file, which Steward never changes",
            "download the delete plan from GET /api/v1/export/delete-plan.json and change the file's source by it",
          ];
  return new StewardError("conflict", `${what}, which is ${reason}; ${remedy}`, {
    rule: "a Paperless-ngx",
    remedy,
  });
}

/**
 * The Paperless-ngx of this name; without a name the first one. Throws `not_found` for an unknown
 * archive and `conflict` for one of another kind.
 */
export function paperlessOf(archives: Archives, name: string): PaperlessWriter {
  const found =
    name === ""
      ? archives.find(({ writer }) => writer !== undefined)
      : archives.find((archive) => archive.name === name);
  if (found?.writer !== undefined) return found.writer;
  if (found !== undefined)
    throw notInPaperless(
      `archive "${found.name}" has no trash, previews or thumbnails`,
      found.kind,
    );
  if (name === "")
    throw new StewardError("conflict", "no archive is a Paperless-ngx", {
      rule: "a Paperless-ngx",
      remedy: "add one with kind: paperless to dedup.archives",
    });
  const message = `there is no archive ${JSON.stringify(name.slice(0, 64))}; dedup.archives names: ${archives.map((one) => one.name).join(", ") || "none"}`;
  throw new StewardError("not_found", message, { field: "archive" });
}
