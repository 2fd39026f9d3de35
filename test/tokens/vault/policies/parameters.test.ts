import { describe, expect, it } from "vitest";
import { parseExact } from "../../../../src/tokens/logical/json.ts";
import type { Data } from "../../../../src/tokens/logical/types.ts";
import {
  matchesGlob,
  parametersAllowed,
  type ParameterRules,
} from "../../../../src/tokens/vault/policies/parameters.ts";
import { parsePolicy } from "../../../../src/tokens/vault/policies/policy-text.ts";

function rules(body: string): ParameterRules {
  const [rule] = parsePolicy(`path "a" { ${body} }`);
  if (rule === undefined) throw new Error("one rule");
  return rule.parameters;
}

function allowed(body: string, json: string): boolean {
  return parametersAllowed(rules(body), parseExact(json) as Data);
}

describe("parameters", () => {
  it.each([
    ["", "{}", true],
    ["", '{"x":1}', true],
    ['required_parameters = ["x"]', "{}", false],
    ['required_parameters = ["x"]', '{"x":null}', true],
    ['required_parameters = ["x"]', '{"X":1}', false],
    ['denied_parameters = { "*" = [] }', "{}", true],
    ['denied_parameters = { "*" = [] }', '{"x":1}', false],
    ['denied_parameters = { "x" = [] }', '{"X":1}', false],
    ['denied_parameters = { "x" = ["a"] }', '{"x":"b"}', true],
    ['denied_parameters = { "x" = ["a*"] }', '{"x":"ab"}', false],
    ['allowed_parameters = { "x" = [] }', '{"x":1}', true],
    ['allowed_parameters = { "x" = [] }', '{"x":1,"y":1}', false],
    ['allowed_parameters = { "x" = ["a"] "*" = [] }', '{"y":1}', true],
    ['allowed_parameters = { "x" = ["a"] "*" = [] }', '{"x":"b"}', false],
    ['allowed_parameters = { "*" = [] }', '{"x":1}', true],
    [
      'allowed_parameters = { "x" = ["a"] } denied_parameters = { "x" = ["a"] }',
      '{"x":"a"}',
      false,
    ],
    ["allowed_parameters = { }", '{"x":1}', true],
  ])("%s and %s: %j", (body, json, verdict) => {
    expect(allowed(body, json)).toBe(verdict);
  });

  it.each([
    ['"5"', "5", false],
    ['"5"', '"5"', true],
    ["5", "5", true],
    ["5", '"5"', false],
    ["5", "5.0", true],
    ["50", "5e1", true],
    ["5", "6", false],
    ["0", "-0.0", true],
    ["9007199254740993", "9007199254740993", true],
    ["9007199254740993", "9007199254740992", false],
    ["[1]", "[1]", true],
    ["[1]", '"1"', false],
    ["[1]", "[1,2]", false],
    ['["1"]', '"1,2"', false],
    ["true", "true", true],
    ["true", '"true"', false],
    ["{ a = 1 }", '{"a":1}', true],
    ["{ a = 1 }", '{"a":1,"b":2}', false],
    ["null", "null", true],
    ['"*"', "null", false],
    ['"*"', '["x"]', false],
  ])("compares %s with %s without changing types: %j", (written, sent, verdict) => {
    expect(allowed(`allowed_parameters = { "x" = [${written}] }`, `{"x":${sent}}`)).toBe(verdict);
  });

  it.each([
    ["*", "", true],
    ["a*", "ab", true],
    ["a*", "ba", false],
    ["*a", "ba", true],
    ["*a*", "xay", true],
    ["**", "x", true],
    ["a*b", "axb", false],
    ["a*b", "a*b", true],
    ["", "", true],
    ["", "a", false],
  ])("matches %j with %j: %j", (glob, text, verdict) => {
    expect(matchesGlob(glob, text)).toBe(verdict);
  });
});
