import { describe, expect, test } from "vitest";
import { chooseName, cleanName, shortName } from "./names.ts";

describe("a host's name", () => {
  test("loses dots, zeros and blanks at its end", () => {
    expect(cleanName("printer.\0\0")).toBe("printer");
    expect(cleanName(" Bob's iPhone ")).toBe("Bob's iPhone");
    expect(cleanName("größe-1")).toBe("größe-1");
  });

  test("is none when it says nothing of one host", () => {
    for (const text of ["", ".", "localhost", "LOCALHOST.localdomain", "192.168.1.1", "fe80::1", "(none)"])
      expect(cleanName(text)).toBeNull();
  });

  test("is none when it could harm a terminal or a page", () => {
    for (const text of ["a\u001b[2J", "a\nb", "a\u202eb", "<img>", "a\u0000b", "a\ufffdb", "x".repeat(254)])
      expect(cleanName(text)).toBeNull();
  });

  test("is its first label where the domain only means here", () => {
    expect(shortName("printer.local")).toBe("printer");
    expect(shortName("nas.fritz.box")).toBe("nas");
    expect(shortName("pc.sales.corp")).toBe("pc");
    expect(shortName("srv1.example.com")).toBe("srv1.example.com");
    expect(shortName("local")).toBe("local");
  });

  test("comes from DHCP before mDNS before reverse DNS", () => {
    const name = (fullName: string) => ({ fullName, seenAt: 0 });
    expect(chooseName({})).toBe("");
    expect(chooseName({ "reverse-dns": name("c.example.com") })).toBe("c.example.com");
    expect(chooseName({ "reverse-dns": name("c.example.com"), mdns: name("b.local") })).toBe("b");
    expect(chooseName({ "reverse-dns": name("c.example.com"), mdns: name("b.local"), dhcp: name("a") })).toBe("a");
  });
});
