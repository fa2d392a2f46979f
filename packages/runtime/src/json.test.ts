import { expect, test } from "vitest";
import { parseJson } from "./json.ts";

test("gives back what the text says, be it null", () => {
  expect(parseJson('{"seq":[1,null]}')).toEqual({ seq: [1, null] });
  expect(parseJson("null")).toBeNull();
});

test.each(["", "undefined", '{"seq":1', "{'seq':1}", "1 2", "\u0000"])("answers %j, which is no JSON, with undefined", (text) => {
  expect(parseJson(text)).toBeUndefined();
});
