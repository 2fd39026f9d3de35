/** Runs around each test file: no process outlives the file that started it. */
import { afterAll } from "vitest";
import { killLeft } from "./support/spawn.ts";

afterAll(killLeft);
