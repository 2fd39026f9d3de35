/** Reading and changing settings over the API. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConfigService } from "../../gen/steward/dedup/v1/config_pb.ts";
import type {
  ConnectionTestSchema,
  DedupConfigPreviewSchema,
  UpdateConfigRequest,
  UpdateDedupConfigRequest,
} from "../../gen/steward/dedup/v1/config_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { BoundService } from "../../kernel/service.ts";
import { bindService } from "../../kernel/service.ts";
import type { Settings, SettingsChange, SettingsPreview } from "../../kernel/settings/types.ts";
import { bandWarnings, planBands } from "../analysis/band-plan.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import type { AppConfig, ConfigSection } from "../app-config.ts";
import type { Archive } from "../archives/archive.ts";
import type { DocumentIndex } from "../documents/index.ts";
import {
  ANALYSIS_SCOPE,
  analysisKeys,
  bandsArePlanned,
  fieldOf,
  leafOf,
  parametersFrom,
} from "../analysis/settings.ts";
import type { StaleCheck } from "../analysis/staleness.ts";
import { withFieldNames } from "./field-names.ts";
import { listSettings } from "./setting-list.ts";

export interface ConfigApiDeps {
  readonly clock: Clock;
  readonly settings: Pick<Settings, "get" | "change" | "preview" | "pinned">;
  /** The parameters as they are set now. */
  readonly parameters: () => AnalysisParameters;
  /** Brings the scores of all groups to the weights in effect; resolves with their number. */
  readonly rescore: () => Promise<number>;
  readonly analysisStale: StaleCheck;
  /** Groups of any status. */
  readonly countGroups: () => number;
  readonly appConfig: AppConfig;
  readonly archives: () => readonly Archive[];
  readonly documents: Pick<DocumentIndex, "sizeOf">;
}

/** What the analysis settings are changed with. */
interface AnalysisDeps extends Pick<ConfigApiDeps, "parameters" | "rescore"> {
  readonly settings: Pick<Settings, "get" | "change" | "preview">;
}

/** All methods of ConfigService. */
export function configHandlers(deps: ConfigApiDeps): BoundService {
  const { appConfig } = deps;
  return bindService(ConfigService, {
    getConfig: () => ({ data: appConfig.read() }),
    async updateConfig(request) {
      await appConfig.change(valuesOf(request));
      return { data: appConfig.read() };
    },
    testConnection: async ({ archive }, { signal }) => ({
      data: await testConnection(deps, archive, signal),
    }),
    listArchives: () => ({
      data: deps.archives().map((archive) => ({
        name: archive.name,
        kind: archive.kind,
        documents: deps.documents.sizeOf(archive.name),
        // Only servers ask for a credential.
        hasAddress: archive.credential !== undefined,
        credential: archive.credential ?? "",
        lacks: [...LACKS[archive.kind]],
      })),
    }),
    listSettings: () => ({ data: [...listSettings(deps, appConfig.read())] }),
    previewDedupConfig: async ({ change }) => ({ data: await previewChange(deps, change) }),
    async importConfig({ appConfig: given, dedupConfig }) {
      const typed = dedupConfig === undefined ? {} : importedValues(dedupConfig);
      const taken = await appConfig.change({ ...given, ...typed });
      const typedOnly = Object.keys(typed).filter((name) => !Object.hasOwn(given, name));
      return {
        data: {
          appConfigKeys: taken - typedOnly.length,
          dedupConfigUpdated: Object.keys(typed).length > 0,
        },
      };
    },
    getDedupConfig: () => ({ data: deps.parameters() }),
    async updateDedupConfig(request) {
      const { changed, ignored, recalculatedGroups } = await applyChange(deps, patchOf(request));
      const meta = {
        ...(recalculatedGroups === undefined ? {} : { recalculatedGroups }),
        analysisStale: await deps.analysisStale(),
        warnings: changed.length === 0 ? [] : bandWarnings(deps.parameters()),
        ignored: ignored.map(fieldOf),
      };
      const empty =
        meta.recalculatedGroups === undefined &&
        !meta.analysisStale &&
        meta.warnings.length === 0 &&
        ignored.length === 0;
      return { data: deps.parameters(), ...(empty ? {} : { meta }) };
    },
  });
}

/** The analysis settings as `dedup.minWords` and so on. */
export function analysisSection(deps: AnalysisDeps): ConfigSection {
  return {
    prefix: ANALYSIS_PREFIX,
    read: () =>
      Object.fromEntries(
        Object.entries(deps.parameters()).map(([name, value]) => [name, String(value)]),
      ),
    check: (values) => void readPreview(deps, patchFromText(values)),
    async change(values) {
      await applyChange(deps, patchFromText(values));
    },
  };
}

const ANALYSIS_PREFIX = "dedup.";

function patchFromText(values: Readonly<Record<string, string>>): Patch {
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, fromText(text)]));
}

/** A number where it is one; everything else is checked as text. */
function fromText(text: string): string | number {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function valuesOf({
  key,
  value,
  settings,
}: Pick<UpdateConfigRequest, "key" | "value" | "settings">): Record<string, string> {
  const isSeveral = Object.keys(settings).length > 0;
  if (key !== undefined && value !== undefined && !isSeveral) return { [key]: value };
  if (key === undefined && value === undefined && isSeveral) return settings;
  const message = "give either key and value, both text, or settings with a text for each name";
  throw new StewardError("invalid", message, {
    field: key === undefined ? "settings" : "value",
    details: [{ path: [key === undefined ? "settings" : "value"], message, code: "custom" }],
  });
}

/** A file of a former version has three weights: the two that stay share 100 as they did before. */
function importedValues(request: UpdateDedupConfigRequest): Record<string, string> {
  const patch = patchOf(request);
  const { confidenceWeightJaccard: jaccard, confidenceWeightFuzzy: fuzzy } = request;
  const isFormer =
    request.confidenceWeightDiscriminative !== undefined &&
    request.discriminativePenaltyStrength === undefined;
  if (isFormer && jaccard !== undefined && fuzzy !== undefined) {
    const share = jaccard + fuzzy === 0 ? 60 : Math.round((100 * jaccard) / (jaccard + fuzzy));
    patch.confidenceWeightJaccard = share;
    patch.confidenceWeightFuzzy = 100 - share;
  }
  return Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [`${ANALYSIS_PREFIX}${name}`, String(value)]),
  );
}

const LACKS: Readonly<Record<Archive["kind"], readonly string[]>> = {
  paperless: [],
  folder: filesLack("a delete plan deletes its files on the command line"),
  file: filesLack("a delete plan deletes it on the command line"),
  jsonl: filesLack("Steward never changes it; its source is changed by the delete plan"),
};

function filesLack(deletion: string): readonly string[] {
  return [
    `no deletion from these pages: ${deletion}`,
    "no page images and no trash",
    "no suggestions and no merged metadata are written to it",
  ];
}

async function testConnection(
  { archives, documents, clock }: Pick<ConfigApiDeps, "archives" | "documents" | "clock">,
  name: string,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof ConnectionTestSchema>> {
  const archive =
    name === ""
      ? (archives().find(({ kind }) => kind === "paperless") ?? archives()[0])
      : archives().find((each) => each.name === name);
  if (archive === undefined && name !== "")
    throw new StewardError(
      "not_found",
      `there is no archive ${JSON.stringify(name.slice(0, 40))}`,
      { field: "archive", remedy: "GET /api/v1/archives lists them" },
    );
  if (archive === undefined)
    throw new StewardError("conflict", "there is no archive to connect to", {
      remedy: "add an archive to dedup.archives and restart",
    });
  try {
    const beganAtMs = clock.monotonic();
    if (archive.describe === undefined) await archive.check(signal);
    const described = (await archive.describe?.(signal)) ?? {
      version: "",
      documents: documents.sizeOf(archive.name),
    };
    return {
      connected: true,
      version: described.version,
      documentCount: described.documents,
      archive: archive.name,
      apiVersion: described.apiVersion ?? "",
      latencyMs: Math.round(clock.monotonic() - beganAtMs),
    };
  } catch (error) {
    signal.throwIfAborted();
    const { message, remedy } = toStewardError(error);
    throw new StewardError("upstream", message, {
      cause: error,
      ...(remedy === undefined ? {} : { remedy }),
    });
  }
}

const WEIGHTS: ReadonlySet<string> = new Set(
  (
    ["confidenceWeightJaccard", "confidenceWeightFuzzy", "discriminativePenaltyStrength"] as const
  ).map(leafOf),
);

type Patch = Partial<Record<keyof AnalysisParameters, number | boolean | string>>;

function patchOf({
  $typeName: _type,
  $unknown: _unknown,
  confidenceWeightDiscriminative: former,
  ...given
}: UpdateDedupConfigRequest): Patch {
  const patch: Patch = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  if (former !== undefined && patch.discriminativePenaltyStrength === undefined)
    patch.discriminativePenaltyStrength = penaltyOf(former);
  return patch;
}

/** The strength of a former weight: 15, which was its default, is 70, today's default. */
function penaltyOf(formerWeight: number): number {
  return Math.min(100, Math.round((formerWeight / 15) * 70));
}

interface AppliedChange {
  readonly changed: readonly string[];
  readonly ignored: readonly string[];
  /** Undefined when no weight changed. */
  readonly recalculatedGroups: number | undefined;
}

async function applyChange(deps: AnalysisDeps, patch: Patch): Promise<AppliedChange> {
  const { changed, ignored } = await storeChange(deps, patch);
  const recalculatedGroups = isReweighted(changed) ? await deps.rescore() : undefined;
  return { changed, ignored, recalculatedGroups };
}

function isReweighted(changed: readonly string[]): boolean {
  return changed.some((name) => WEIGHTS.has(name));
}

async function storeChange(deps: AnalysisDeps, patch: Patch): Promise<SettingsChange> {
  try {
    return await deps.settings.change(ANALYSIS_SCOPE, storedPatch(deps, patch));
  } catch (error) {
    throw withFieldNames(error, Object.keys(analysisKeys), leafOfField);
  }
}

async function previewChange(
  deps: ConfigApiDeps,
  change: UpdateDedupConfigRequest | undefined,
): Promise<MessageInitShape<typeof DedupConfigPreviewSchema>> {
  const preview = readPreview(deps, change === undefined ? {} : patchOf(change));
  const config = parametersFrom(preview.get);
  return {
    config,
    changed: preview.changed.map(fieldOf),
    ignored: preview.ignored.map(fieldOf),
    recalculatedGroups: isReweighted(preview.changed) ? deps.countGroups() : 0,
    analysisStale: await deps.analysisStale(config),
    warnings: [...bandWarnings(config)],
  };
}

function readPreview(
  deps: Pick<AnalysisDeps, "settings" | "parameters">,
  patch: Patch,
): SettingsPreview {
  try {
    return deps.settings.preview(ANALYSIS_SCOPE, storedPatch(deps, patch));
  } catch (error) {
    throw withFieldNames(error, Object.keys(analysisKeys), leafOfField);
  }
}

function leafOfField(name: string): string {
  return leafOf(name as keyof AnalysisParameters);
}

/** The patch as it is stored: by the names of the file, and a planned number of bands as such. */
function storedPatch(
  { settings, parameters }: Pick<AnalysisDeps, "settings" | "parameters">,
  patch: Patch,
): Readonly<Record<string, unknown>> {
  const now = parameters();
  const stored: Record<string, unknown> = { ...patch };
  const { numBands } = patch;
  if (numBands !== undefined) {
    const next = { ...now, ...patch } as AnalysisParameters;
    // A client that sends back what it read has not chosen a number.
    if (bandsArePlanned(settings.get) && numBands === now.numBands) delete stored["numBands"];
    else if (numBands === planBands(next)) stored["numBands"] = null;
  }
  return Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [leafOfField(name), value]),
  );
}
