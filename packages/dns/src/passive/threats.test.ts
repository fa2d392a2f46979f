import { DNS_TYPE } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createDraw, createSite, drawText, RESOLVER } from "./testing/site.ts";

const NULL_TYPE = 10;
const BASE32 = "abcdefghijklmnopqrstuvwxyz012345";
const draw = createDraw(7);

describe("a tunnel is found", () => {
  test("that carries data in names and NULL records", () => {
    const site = createSite();
    for (let n = 0; n < 60; n += 1) {
      const name = `${drawText(draw, 50, BASE32)}.${drawText(draw, 40, BASE32)}.t.example.com`;
      site.ask({ name, type: NULL_TYPE, answer: [{ name, type: NULL_TYPE, ttlSeconds: 0, data: { kind: "bytes", bytes: new Uint8Array(200) } }] });
      site.wait(1);
    }
    expect(site.found[0]).toMatchObject({ kind: "tunnel", campaign: "example.com", client: "10.0.0.5", severity: "high" });
    expect(site.found[0]?.techniques).toContain("T1071.004");
    expect(site.found[0]?.signals.length).toBeGreaterThanOrEqual(3);
    expect(site.found[0]?.samples).toHaveLength(8);
    // Said once a minute with the count.
    expect(site.found).toHaveLength(1);
  });

  test("that is idle: its polls are short, but each name is another, and asks for data", () => {
    const site = createSite();
    for (let n = 0; n < 200; n += 1) {
      const name = `${drawText(draw, 9, BASE32)}.t.tunnel.test`;
      site.ask({ name, type: DNS_TYPE.txt, answer: [{ name, type: DNS_TYPE.txt, ttlSeconds: 3, data: { kind: "txt", strings: [new Uint8Array(60)] } }] });
      site.wait(4);
    }
    expect(site.kinds()).toEqual(["tunnel"]);
    expect(site.found[0]?.campaign).toBe("tunnel.test");
  });

  test("that only takes data out, in names of addresses which nobody answers", () => {
    const site = createSite();
    for (let n = 0; n < 80; n += 1) {
      site.ask({ name: `${drawText(draw, 60, "0123456789abcdef")}.${drawText(draw, 60, "0123456789abcdef")}.evil.example.net` });
      site.wait(2);
    }
    expect(site.found[0]).toMatchObject({ kind: "tunnel", campaign: "example.net" });
    expect(site.found[0]?.techniques).toContain("T1048.003");
  });

  test("by the handshake of iodine, after which it may leave DNS", () => {
    const site = createSite();
    for (const below of ["vaaaakaqa1", "laf3z5y4r3yuxv", "iaaa", "yrbcde", "z1abc"]) {
      const name = `${below}.t.example.org`;
      site.ask({ name, type: NULL_TYPE, answer: [{ name, type: NULL_TYPE, ttlSeconds: 0, data: { kind: "bytes", bytes: new Uint8Array(24) } }] });
    }
    expect(site.found[0]).toMatchObject({ kind: "tunnel", campaign: "example.org" });
    expect(site.found[0]?.signals.join()).toContain("iodine");
  });

  test("though another client floods the detectors with domains and clients", () => {
    const site = createSite();
    for (let n = 0; n < 60; n += 1) {
      for (let other = 0; other < 200; other += 1) site.ask({ name: `www.${drawText(draw, 12)}.com`, client: `10.1.${other & 255}.${n}`, answer: ["198.51.100.1"] });
      const name = `${drawText(draw, 60, BASE32)}.t.example.com`;
      site.ask({ name, type: DNS_TYPE.txt, answer: [{ name, type: DNS_TYPE.txt, ttlSeconds: 0, data: { kind: "txt", strings: [new Uint8Array(100)] } }] });
      site.wait(1);
    }
    expect(site.kinds()).toEqual(["tunnel"]);
    expect(site.dns.counters().evicted).toBeGreaterThan(1000);
  });
});

describe("generated names are found", () => {
  test.each([
    ["of letters", () => drawText(draw, 12)], ["of letters and digits", () => drawText(draw, 14, "abcdefghijklmnopqrstuvwxyz0123456789")],
    ["of hexadecimal digits", () => drawText(draw, 16, "0123456789abcdef")],
  ])("%s", (_, label) => {
    const site = createSite();
    for (let n = 0; n < 40; n += 1) {
      site.ask({ name: `${label()}.${["com", "net", "info", "ru"][n % 4]}`, answer: "missing" });
      if (n % 2 === 0) site.ask({ name: `www.example${n}.org`, answer: ["198.51.100.7"] });
      site.wait(5);
    }
    expect(site.found[0]).toMatchObject({ kind: "generated_names", campaign: "", severity: "high", techniques: ["T1568.002"] });
    expect(site.found[0]?.signals).toHaveLength(2);
    expect(site.found).toHaveLength(Math.ceil((40 - 10) * 5 / 60));
  });

  test("once, where a resolver asks on what its client asked", () => {
    const site = createSite();
    for (let n = 0; n < 40; n += 1) {
      const name = `${drawText(draw, 14)}.com`;
      site.ask({ name, answer: "missing" });
      site.ask({ name, client: RESOLVER, server: "198.51.100.53", answer: "missing" });
    }
    expect(new Set(site.found.map(({ client }) => client))).toEqual(new Set(["10.0.0.5"]));
  });
});

test("a name with ever new addresses all over the world is fast flux", () => {
  const site = createSite();
  for (let n = 0; n < 20; n += 1) {
    site.ask({ name: "shop.flux.example.com", ttlSeconds: 60, answer: Array.from({ length: 4 }, () => `${[31, 46, 77, 78, 84, 85, 91, 93, 109, 151, 178, 188, 213][Math.floor(draw() * 13)]}.${Math.floor(draw() * 255)}.3.4`) });
    site.wait(61);
  }
  expect(site.found[0]).toMatchObject({ kind: "fast_flux", campaign: "example.com" });
});

describe("rebinding", () => {
  test("is a public name that leads into the site a moment later", () => {
    const site = createSite();
    site.ask({ name: "a.rebind.example.com", ttlSeconds: 1, answer: ["198.51.100.7"] });
    site.wait(3);
    site.ask({ name: "a.rebind.example.com", ttlSeconds: 1, answer: ["192.168.1.1"] });
    expect(site.found).toMatchObject([{ kind: "rebinding", campaign: "example.com", name: "a.rebind.example.com" }]);
  });

  test("is also both addresses in one answer", () => {
    const site = createSite();
    site.ask({ name: "a.rebind.example.com", ttlSeconds: 0, answer: ["198.51.100.7", "10.0.0.77"] });
    expect(site.kinds()).toEqual(["rebinding"]);
  });
});

describe("resolvers that lie", () => {
  test("two answers to one question that do not agree", () => {
    const site = createSite();
    const asked = { name: "bank.example.com", answer: ["203.0.113.66"] } as const;
    const id = site.ask(asked);
    expect(site.found).toEqual([]);
    site.answer({ ...asked, answer: ["198.51.100.7"] }, id);
    expect(site.found).toMatchObject([{ kind: "forged_answer", severity: "high", campaign: RESOLVER }]);
  });

  test("a resolver that DHCP does not name and that leads many domains to one network", () => {
    const site = createSite();
    site.dns.resolversNamed([RESOLVER]);
    for (const [index, domain] of ["bank.com", "mail.net", "shop.org", "news.com"].entries()) {
      site.ask({ name: `www.${domain}`, client: "10.0.0.9", answer: [`198.51.${index}.7`] });
      site.ask({ name: `www.${domain}`, server: "203.0.113.53", answer: [`192.0.2.${index}`] });
    }
    expect(site.found[0]).toMatchObject({ kind: "rogue_resolver", campaign: "203.0.113.53", client: "10.0.0.5" });
  });
});

describe("DNS past the site's resolver", () => {
  const hello = { client: "10.0.0.5", isQuic: false, at: 1 } as const;
  test("over HTTPS and over TLS is found", () => {
    const site = createSite();
    site.dns.hello({ ...hello, server: "198.51.100.1", port: 443, serverName: "cloudflare-dns.com", alpn: ["h2", "http/1.1"] });
    site.dns.hello({ ...hello, server: "198.51.100.2", port: 853, serverName: "dot.example.com", alpn: [] });
    expect(site.found.map(({ kind, campaign }) => [kind, campaign])).toEqual([["encrypted_dns", "cloudflare-dns.com"], ["encrypted_dns", "dot.example.com"]]);
  });

  test("is none where the site's resolver speaks it, nor is a web page of a resolver's name", () => {
    const site = createSite({ resolvers: ["10.0.0.1"] });
    site.dns.hello({ ...hello, server: "10.0.0.1", port: 853, serverName: "dns.example.com", alpn: ["dot"] });
    site.dns.hello({ ...hello, server: "198.51.100.2", port: 443, serverName: "dns.google", alpn: ["http/1.1"] });
    site.dns.hello({ ...hello, server: "198.51.100.2", port: 443, serverName: "www.example.com", alpn: ["h2"] });
    expect(site.found).toEqual([]);
  });
});

test("of a domain that is allowed nothing is said, nor of what is below it", () => {
  const site = createSite({ allowed: ["*.Example.com"] });
  for (let n = 0; n < 60; n += 1) site.ask({ name: `${drawText(draw, 60, BASE32)}.t.example.com`, type: DNS_TYPE.txt });
  expect(site.found).toEqual([]);
});
