import { expect, test } from "vitest";
import { createListReader } from "./list-reader.ts";
import { createListGuard, type ListGuardOptions } from "./list-guards.ts";

function judge(text: string, options: Partial<ListGuardOptions> = {}) {
  const guard = createListGuard({ rulesBefore: 0, protectedNames: [], mayBlockPrivateSuffixes: false, ...options });
  const reader = createListReader("adblock", { mayRewrite: true, origin: null }, guard.look);
  reader.push(new TextEncoder().encode(text));
  reader.end();
  return guard.fault();
}

test("an update that is empty or shrinks by half is refused", () => {
  expect(judge("")?.code).toBe("empty");
  expect(judge("||a.example^\n||b.example^", { rulesBefore: 5 })?.code).toBe("shrinks");
  expect(judge("||a.example^\n||b.example^", { rulesBefore: 4 })).toBeNull();
});

test("an update that blocks a public suffix is refused, but one of a private operator may be allowed", () => {
  expect(judge("||a.example^\n||co.uk^\n||zip^")).toMatchObject({ code: "public-suffix", names: ["co.uk", "zip"] });
  expect(judge("||duckdns.org^")?.code).toBe("public-suffix");
  expect(judge("||duckdns.org^", { mayBlockPrivateSuffixes: true })).toBeNull();
  expect(judge("$dnstype=AAAA,dnsrewrite=NOERROR;;")?.code).toBe("public-suffix");
  expect(judge("@@||co.uk^\n||x.co.uk^")).toBeNull();
});

test("an update that blocks a protected name, or what is above it, is refused", () => {
  const protectedNames = ["login.example.com", "example.org"];
  expect(judge("||example.com^", { protectedNames })).toMatchObject({ code: "protected-name", names: ["example.com"] });
  expect(judge("login.example.com", { protectedNames })?.code).toBe("protected-name");
  expect(judge("example.com\n||ads.example.org^\n||ads.login.example.com^", { protectedNames })).toBeNull();
});
