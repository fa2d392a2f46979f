import { expect, test } from "vitest";
import { bytesOf } from "../testing/rule-text.ts";
import { parseRules } from "../rule-set.ts";

test("equal parts of rules are one object in all rules of a load", () => {
  const options = 'msg:"A"; flow:established; http.uri; content:"/Gate|2e|php"; nocase; reference:cve,2024-1; classtype:none; metadata:signature_severity Major;';
  const { rules: [first, second, third] } = parseRules(bytesOf(
    `alert http any any -> any any (${options} sid:1;)\nalert http any any -> any any (${options} sid:2;)\nalert http any any -> any any (http.uri; content:"/Gate|2e|php"; sid:3;)\n`,
  ));
  if (!first || !second || !third) throw new Error("a rule is missing");
  expect(first.buffers[0]?.matches[0]).toBe(second.buffers[0]?.matches[0]);
  expect([first.protocol === second.protocol, first.source === second.source, first.flow === second.flow, first.class === second.class]).toEqual([true, true, true, true]);
  expect([first.metadata[0] === second.metadata[0], first.references[0] === second.references[0]]).toEqual([true, true]);
  expect([first, third].map(({ buffers }) => buffers[0]?.matches[0])).toMatchObject([{ bytes: bytesOf("/gate.php"), ignoreCase: true }, { bytes: bytesOf("/Gate.php"), ignoreCase: false }]);
});

test("contents of the same bytes and other places are their own", () => {
  const { rules: [rule] } = parseRules(bytesOf(
    'alert tcp any any -> any any (content:"ab"; content:"ab"; distance:1; content:!"ab"; within:9; content:"|61 62|"; depth:4; byte_extract:1,0,len; content:"ab"; offset:len; sid:1;)\n',
  ));
  expect(rule?.buffers[0]?.matches.filter(({ kind }) => kind === "content")).toMatchObject([
    { distance: null, depth: null, isNegated: false }, { distance: 1 }, { within: 9, isNegated: true }, { depth: 4 }, { offset: { variable: 0 } },
  ]);
});
