/**
 * The style sheet and browser modules of the pages, made once a process and served under their
 * content's hash.
 */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { assert, StewardError } from "../../src/kernel/base/errors.ts";
import type { PlainRoute } from "../../src/kernel/service.ts";
import { makeAssetFiles, type AssetFile } from "./asset-files.ts";
import { packedAnswer } from "./conditional.ts";

/** What the pages load. */
export interface Assets {
  /**
   * The address of a named asset: `steward.css`, `early.js`, or a module of `browser/` such as
   * `landing.js`.
   */
  url(name: string): string;
  /** The addresses of all that a module imports, itself not included. */
  modules(name: string): readonly string[];
  /**
   * One route for all of them, open to anybody: they hold nothing but Steward's own code, and the
   * page that says "not found" needs them. They never change under their address, so a browser
   * keeps them for a year.
   */
  readonly route: PlainRoute;
}

/** Where they are served. */
export const ASSETS_TEMPLATE = "/assets/{name}";
const YEAR = "private, max-age=31536000, immutable";

let shared: Assets | undefined;

/** The assets of all pages, made once in a process however many listeners serve them. */
export function pageAssets(): Assets {
  return (shared ??= createAssets(makeAssetFiles()));
}

function createAssets(files: readonly AssetFile[]): Assets {
  const get = (name: string): AssetFile => {
    const found = files.find((each) => each.name === name);
    assert(found !== undefined, `there is no asset ${name}`);
    return found;
  };
  const byUrl = new Map(files.map((each) => [each.url, each]));
  return {
    url: (name) => get(name).url,
    modules: (name) => get(name).imports,
    route: assetRoute(byUrl),
  };
}

function assetRoute(byUrl: ReadonlyMap<string, AssetFile>): PlainRoute {
  return {
    verb: "GET",
    template: ASSETS_TEMPLATE,
    access: Access.PUBLIC,
    dialect: "monitor",
    async handle({ path, headers }) {
      const found = byUrl.get(path);
      if (found === undefined)
        throw new StewardError("not_found", "there is no such asset; load the page again");
      return await packedAnswer(
        {
          status: 200,
          headers: {
            "content-type": found.type,
            "cache-control": YEAR,
            "x-content-type-options": "nosniff",
          },
          body: found.body,
        },
        headers,
      );
    },
  };
}
