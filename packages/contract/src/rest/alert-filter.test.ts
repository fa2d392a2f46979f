import { describe, expect, test } from "vitest";
import { formatAlertFilter, parseAlertFilter } from "./alert-filter.ts";

const filterOf = (text: string) => {
  const parsed = parseAlertFilter(text);
  return parsed.ok ? parsed.filter : parsed.message;
};

describe("the filter language of alerts", () => {
  test("makes the API's filters of terms, and a search of the rest", () => {
    expect(filterOf("severity:>=high -status:resolved source:ids,rogue type:arp_spoofing seen:<24h 10.0.0.7")).toEqual({
      severity: "critical,high", status: "!resolved", source: "ids,rogue", type: "arp_spoofing", since: "24h", search: "10.0.0.7",
    });
  });

  test("says what is wrong in its own words, and is written as it is read", () => {
    expect(filterOf("severity:>=loud")).toMatch(/^severity: /);
    expect(filterOf("site:berlin")).toMatch(/^site: /);
    const text = "severity:critical,high -status:resolved seen:<24h printer";
    expect(formatAlertFilter(filterOf(text) as object)).toBe(text);
  });
});
