/** The tasks of the workers as data, for those who hand them to the pool. */
import type { TaskRow } from "./control.ts";
import type { CoverInput, CoverOutput } from "./tasks/cover.ts";
import type { DigestInput } from "./tasks/digest.ts";
import type { JoinInput, JoinOutput } from "./tasks/join.ts";
import type { SignInput, SignOutput } from "./tasks/sign.ts";
import type { VerifyInput, VerifyOutput } from "./tasks/verify.ts";
import type { DigestedTexts } from "./text/digester.ts";

/** Raw texts → hashes, word counts, compressed texts. About 100 documents a batch. */
export const digest: TaskRow<DigestInput, DigestedTexts> = {
  name: "digest",
  file: new URL("./tasks/digest.ts", import.meta.url),
};

/** Stored texts → one block of signatures. */
export const sign: TaskRow<SignInput, SignOutput> = {
  name: "sign",
  file: new URL("./tasks/sign.ts", import.meta.url),
};

/** Shared columns → candidate pairs. */
export const join: TaskRow<JoinInput, JoinOutput> = {
  name: "join",
  file: new URL("./tasks/join.ts", import.meta.url),
};

/** Small components of candidate pairs → groups with their scores. */
export const cover: TaskRow<CoverInput, CoverOutput> = {
  name: "cover",
  file: new URL("./tasks/cover.ts", import.meta.url),
};

/** Pairs of a large component → their scores. */
export const verify: TaskRow<VerifyInput, VerifyOutput> = {
  name: "verify",
  file: new URL("./tasks/verify.ts", import.meta.url),
};
