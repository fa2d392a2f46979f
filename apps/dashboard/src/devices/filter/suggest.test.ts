import { parseDeviceFilter } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { suggest, wordAt } from "./suggest.ts";

const VALUES = { type: ["printer", "phone", "access_point"], vendor: ["Cisco Systems", 'Ev"il\\, Inc', "Acme"], cve: [">=high"], seen: ["<7d"] };
const texts = (text: string, caret = text.length) => suggest(text, caret, VALUES).map((each) => each.text);

test("words of the language are completed, also behind a minus sign, and what is searched for stays", () => {
  expect(texts("ty")).toEqual(["type:"]);
  expect(texts("night -v")).toEqual(["night -vendor:"]);
  expect(texts("s")).toEqual(["subnet:", "state:", "site:", "seen:"]);
  expect([texts(""), texts("night "), texts("00:1b:6"), texts("toaster:x")]).toEqual([[], [], [], []]);
});

test("values are found by any part of them, and of a list those that are not in it yet", () => {
  expect(texts("type:p")).toEqual(["type:printer ", "type:phone ", "type:access_point "]);
  expect(texts("type:printer,ph")).toEqual(["type:printer,phone "]);
  expect(texts("-type:poi")).toEqual(["-type:access_point "]);
  expect(texts("type:p night", 6)).toEqual(["type:printer night", "type:phone night", "type:access_point night"]);
  expect([texts("cve:"), texts("seen:")]).toEqual([["cve:>=high "], ["seen:<7d "]]);
  expect([wordAt("type:p night", 6), wordAt("type:p night", 12)]).toEqual(["type", null]);
});

test("what is taken is read as that value, whatever is in it", () => {
  expect(texts("vendor:cis")).toEqual(['vendor:"Cisco Systems" ']);
  expect(texts('vendor:"cisco s')).toEqual(['vendor:"Cisco Systems" ']);
  for (const text of texts("vendor:")) expect(parseDeviceFilter(text).ok).toBe(true);
  const [taken = ""] = texts("vendor:ev");
  expect(parseDeviceFilter(taken)).toEqual({ ok: true, filter: { vendor: String.raw`Ev"il\\\, Inc` } });
});
