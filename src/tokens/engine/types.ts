/** Types shared by the engine's parts. */
import type { RawNumber } from "../logical/json.ts";
import type { Data } from "../logical/types.ts";

/** Build information for `info` and the metrics; empty without release values. */
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

export interface EngineConfig {
  readonly appId: number;
  /** PEM, PKCS#1. */
  readonly privateKey: string;
  /** As configured. */
  readonly baseUrl: string;
  readonly excludeRepositoryMetadata: boolean;
  readonly strictScopes: boolean;
  /** The ceiling; undefined for none. */
  readonly maxPermissions: Permissions | undefined;
  /** A cached token needs at least this long to live to be used again; 0: there is no cache. */
  readonly tokenCacheMinTtlMs: number;
}

/** Empty means not given. */
export interface Scope {
  /** 0 when only an organisation was given. */
  readonly installationId: number;
  readonly orgName: string;
  readonly repositories: readonly string[];
  readonly repositoryIds: readonly number[];
  readonly permissions: Permissions;
}

/** The platform's fields with exact digits. */
export interface MintedToken {
  readonly token: string;
  readonly data: Data;
}

/** A token that the platform made, without a lease yet. */
export interface FreshToken {
  readonly installationId: number | RawNumber;
  readonly minted: MintedToken;
  /** When the platform's answer had come, by our clock. */
  readonly mintedAtMs: number;
  /** By the platform's clock. */
  readonly expiresAtMs: number;
  /** Length of the platform's answer. */
  readonly bytes: number;
}

export interface Installation {
  readonly id: number | RawNumber;
  readonly login: string;
  readonly suspended: boolean;
  readonly permissions: Permissions;
}
