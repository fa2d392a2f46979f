import { describe, expect, test } from "vitest";
import { MacInput, parseMac } from "./mac.ts";

const STORED = "00:1b:21:aa:bb:07";

describe("a MAC address", () => {
  test("is read in each form that devices print, in any case, as the one that is stored", () => {
    for (const text of [
      STORED, "00:1B:21:AA:BB:07", "00-1b-21-aa-bb-07", "00-1B-21-AA-BB-07", "001b.21aa.bb07", "001B.21AA.BB07", " 001b.21aa.bb07 ",
    ]) {
      expect([text, parseMac(text), MacInput.safeParse(text).data]).toEqual([text, STORED, STORED]);
    }
  });

  test("is nothing else: mixed separators, parts, more than six octets, other digits", () => {
    for (const text of [
      "", "00", "00:1b:21:aa:bb", "00:1b-21:aa-bb:07", "00:1b:21:aa:bb:07:08", "001b.21aa", "001b:21aa:bb07", "0g:1b:21:aa:bb:07",
      "00.1b.21.aa.bb.07", "00:1b:21:aa:bb:07\n00:1b:21:aa:bb:08", "\uFF10\uFF10:1b:21:aa:bb:07",
    ]) {
      expect([text, parseMac(text), MacInput.safeParse(text).success]).toEqual([text, null, false]);
    }
  });
});
