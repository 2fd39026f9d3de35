/** GET /api/v1/export/config.json: all settings as a file that /api/v1/import/config reads. */
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import type { AppConfig } from "../app-config.ts";

/** Of the file's format. */
const VERSION = "1.0";

/** The route without its handler. */
export const CONFIG_EXPORT_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/v1/export/config.json",
  access: Access.OPERATOR,
  dialect: "dedup",
  describe: {
    operationId: "exportConfig",
    tag: "ConfigService",
    text:
      "Downloads all settings for `POST /api/v1/import/config`. " +
      "Credentials and the connections of archives are not among them.",
    answer: "The settings, without an envelope.",
    contentType: "application/json",
  },
};

export interface ConfigExportDeps {
  readonly clock: Clock;
  readonly appConfig: Pick<AppConfig, "read">;
  readonly parameters: () => AnalysisParameters;
}

export function configExportRoute({ clock, appConfig, parameters }: ConfigExportDeps): PlainRoute {
  return {
    ...CONFIG_EXPORT_ROUTE,
    handle() {
      const exportedAt = new Date(clock.now()).toISOString();
      const file = {
        version: VERSION,
        exportedAt,
        appConfig: appConfig.read(),
        dedupConfig: parameters(),
      };
      return Promise.resolve({
        status: 200,
        headers: {
          "content-type": "application/json; charset=utf-8",
          "content-disposition": `attachment; filename="steward-config-${exportedAt.slice(0, 10)}.json"`,
          "cache-control": "no-store",
        },
        body: `${JSON.stringify(file, undefined, 2)}\n`,
      });
    },
  };
}
