/** What the parts of the engine hand each other. */
import type { RawNumber } from "../logical/json.ts";
import type { Data } from "../logical/types.ts";

/**
 * What `info` and the metrics say about the build; empty strings in a build without release
 * injections.
 */
export interface BuildInfo {
  readonly projectName: string;
  readonly projectDocs: string;
  readonly version: string;
  readonly revision: string;
  readonly branch: string;
  readonly date: string;
  readonly user: string;
}

/** Permission levels by name, e.g. `contents` → `read`. */
export type Permissions = Readonly<Record<string, string>>;

/** The app and how tokens are minted as it. */
export interface EngineConfig {
  readonly appId: number;
  /** PEM, PKCS#1. */
  readonly privateKey: string;
  /** As it was given. */
  readonly baseUrl: string;
  readonly excludeRepositoryMetadata: boolean;
  readonly strictScopes: boolean;
  /** The ceiling; undefined for none. */
  readonly maxPermissions: Permissions | undefined;
}

/** What a token is asked for. Empty means "not given". */
export interface Scope {
  /** 0 when only an organisation was given. */
  readonly installationId: number;
  readonly orgName: string;
  readonly repositories: readonly string[];
  readonly repositoryIds: readonly number[];
  readonly permissions: Permissions;
}

/** A platform's answer to a mint: its own fields, digits kept. */
export interface MintedToken {
  readonly token: string;
  readonly data: Data;
}

/** An installation as the platform lists it. */
export interface Installation {
  readonly id: number | RawNumber;
  readonly login: string;
  readonly suspended: boolean;
  readonly permissions: Permissions;
}
