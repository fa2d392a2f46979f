import { expect, test } from "vitest";
import { registrableDomain } from "./registrable-domain.ts";

test("a name's registrable part is one label above its public suffix, in lower case", () => {
  expect(registrableDomain("A.b.Example.co.uk")).toEqual({ domain: "example.co.uk", suffix: "co.uk", isPrivate: false });
  expect(registrableDomain("x.user.github.io")).toEqual({ domain: "user.github.io", suffix: "github.io", isPrivate: true });
  expect(registrableDomain("_dmarc.example.com")?.domain).toBe("example.com");
});

test("a suffix, a name of the site's own and the root have none", () => {
  for (const name of ["co.uk", "github.io", "printer.lan", "localhost", ".", "", "10.in-addr.arpa.lan"]) expect(registrableDomain(name), name).toBeNull();
});
