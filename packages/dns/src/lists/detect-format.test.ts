import { expect, test } from "vitest";
import { detectFormat } from "./detect-format.ts";

const detect = (text: string) => detectFormat(new TextEncoder().encode(text));

test("each format is known by its lines", () => {
  expect(detect("# Title\n127.0.0.1 localhost\n0.0.0.0 a.example\n0.0.0.0 b.example")).toBe("hosts");
  expect(detect("# Title\na.example\r\nb.example\r\n")).toBe("domains");
  expect(detect("*.a.example\n*.b.example")).toBe("wildcard");
  expect(detect("[Adblock Plus]\n! Title\n||a.example^\n@@||b.example^\n/regex/")).toBe("adblock");
  expect(detect("address=/a.example/\nlocal=/b.example/\nserver=/c.example/")).toBe("dnsmasq");
  expect(detect("$TTL 60\n@ SOA a. b. 1 2 3 4 5\n NS a.\na.example CNAME .\n*.a.example CNAME .")).toBe("rpz");
});

test("a page, an empty file and bytes of no text are no list", () => {
  expect(detect("<!DOCTYPE html>\n<html>\n<body>Moved</body></html>")).toBeNull();
  expect(detect("")).toBeNull();
  expect(detectFormat(Uint8Array.from({ length: 5000 }, (_, index) => (index * 37) & 0xff))).toBeNull();
});
