/** The tasks of the workers as data, for those who hand them to the pool. */
import type { TaskRow } from "./control.ts";
import type { DigestInput, DigestOutput } from "./tasks/digest.ts";
import type { JoinInput, JoinOutput } from "./tasks/join.ts";
import type { SignInput, SignOutput } from "./tasks/sign.ts";
import type { VerifyInput, VerifyOutput } from "./tasks/verify.ts";

/** Raw texts → hashes, word counts, compressed texts. About 100 documents a batch. */
export const digest: TaskRow<DigestInput, DigestOutput> = {
  name: "digest",
  file: new URL("./tasks/digest.ts", import.meta.url),
};

/** Compressed texts → one block of signatures. */
export const sign: TaskRow<SignInput, SignOutput> = {
  name: "sign",
  file: new URL("./tasks/sign.ts", import.meta.url),
};

/** Shared columns → candidate pairs. */
export const join: TaskRow<JoinInput, JoinOutput> = {
  name: "join",
  file: new URL("./tasks/join.ts", import.meta.url),
};

/** Candidate pairs → scored edges. */
export const verify: TaskRow<VerifyInput, VerifyOutput> = {
  name: "verify",
  file: new URL("./tasks/verify.ts", import.meta.url),
};
