import { decodeDns, DNS_TYPE, type DnsRecordFields } from "@lanthorn/packets";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createSite, createDraw, drawText, RESOLVER } from "./testing/site.ts";

const HEX = "0123456789abcdef";
const SRV = 33;
const text = (name: string, words: string): DnsRecordFields => ({ name, type: DNS_TYPE.txt, ttlSeconds: 300, data: { kind: "txt", strings: [Buffer.from(words)] } });

/** What hosts ask for that looks unusual and is none; three hundred of each. */
const HABITS: Readonly<Record<string, (draw: () => number, ask: ReturnType<typeof createSite>["ask"], n: number) => void>> = {
  "lists of addresses": (draw, ask) => {
    const ip = Array.from({ length: 4 }, () => Math.floor(draw() * 256)).join(".");
    for (const list of ["zen.spamhaus.org", "bl.unknown-list.net", "b.barracudacentral.org"]) {
      ask({ name: `${ip}.${list}`, answer: draw() < 0.2 ? ["127.0.0.4"] : "missing" });
      ask({ name: `${ip}.${list}`, type: DNS_TYPE.txt, answer: draw() < 0.2 ? [text(`${ip}.${list}`, `listed, see https://example.org/query?ip=${ip}`)] : "missing" });
    }
  },
  "lists of domains and of hashes": (draw, ask, n) => {
    ask({ name: `spam-sender${n}.example.com.multi.unknown-uri.org`, answer: draw() < 0.1 ? ["127.0.0.2"] : "missing" });
    ask({ name: `${drawText(draw, 40, HEX)}.hashes.unknown-list.org`, answer: draw() < 0.1 ? ["127.0.0.2"] : "missing" });
    ask({ name: `${drawText(draw, 40, HEX)}.ebl.msbl.org`, answer: "missing" });
  },
  "scanners of malware": (draw, ask) => {
    const sophos = `${drawText(draw, 30, `${HEX}ghijkl`)}.${drawText(draw, 40, HEX)}.i.00.s.sophosxl.net`;
    const eset = `${drawText(draw, 40, "abcdefghijklmnopqrstuvwxyz234567")}.a.j.e5.sk`;
    ask({ name: sophos, type: DNS_TYPE.txt, answer: [text(sophos, "w 1 2 3 4")] });
    ask({ name: eset, type: DNS_TYPE.txt, answer: [text(eset, drawText(draw, 60))] });
    ask({ name: `a-0.19-a3000081.${drawText(draw, 24)}.avqs.mcafee.com`, answer: ["127.0.0.128"] });
    ask({ name: `${drawText(draw, 26, HEX)}.verdict.unknown-scanner.com`, answer: ["127.1.0.1"] });
  },
  "content networks": (draw, ask) => {
    ask({ name: `rr${Math.floor(draw() * 9)}---sn-${drawText(draw, 8, "0123456789abcdefghijklmnopqrstuvwxyz")}.googlevideo.com`, answer: ["198.51.100.9"] });
    ask({ name: `d${drawText(draw, 13, HEX)}.cloudfront.net`, answer: draw() < 0.05 ? "missing" : ["198.51.100.9"] });
    ask({ name: `ipv4-c00${Math.floor(draw() * 9)}-fra00${Math.floor(draw() * 9)}-example-isp.1.oca.nflxvideo.net`, answer: ["198.51.100.9"] });
    const edge = `e${Math.floor(draw() * 99_999)}.dscb.akamaiedge.net`;
    ask({ name: edge, ttlSeconds: 20, answer: [{ name: edge, type: DNS_TYPE.cname, ttlSeconds: 20, data: { kind: "name", name: `${drawText(draw, 8)}.edge.example.net` } }, `23.${Math.floor(draw() * 9)}.1.1`] });
  },
  "games": (draw, ask, n) => {
    ask({ name: `_minecraft._tcp.play${n}.com`, type: SRV, answer: "missing" });
    ask({ name: `cache${n % 16}-fra1.steamcontent.com`, answer: ["198.51.100.4"] });
    ask({ name: `euw${n % 5}.lol.riotgames.com`, answer: ["198.51.100.5"] });
    ask({ name: `session-${drawText(draw, 10, HEX)}.eu-central-1.gamelift.unknown-game.com`, answer: ["198.51.100.6"] });
  },
  "policies for mail": (draw, ask, n) => {
    const ip = Array.from({ length: 4 }, () => Math.floor(draw() * 256)).join(".");
    for (const name of [`example-sender${n}.com`, `_dmarc.example-sender${n}.com`, `s${n % 3}._domainkey.example-sender${n}.com`]) {
      ask({ name, type: DNS_TYPE.txt, answer: [text(name, `v=spf1 ${drawText(draw, 200)}`)] });
    }
    const macro = `${ip}.in-addr._spf.unknown-macros.com`;
    ask({ name: macro, type: DNS_TYPE.txt, answer: [text(macro, "v=spf1 ip4:198.51.100.0/24 -all")] });
  },
  "reverse look-ups and names of the link": (draw, ask, n) => {
    const ip = Array.from({ length: 4 }, () => Math.floor(draw() * 256)).join(".");
    ask({ name: `${ip}.in-addr.arpa`, type: DNS_TYPE.ptr, answer: "missing" });
    ask({ name: `${drawText(draw, 40, HEX)}._dosvc._tcp.local`, type: SRV });
    ask({ name: drawText(draw, 11), answer: "missing" });
    ask({ name: `_ldap._tcp.site${n % 9}._sites.dc._msdcs.corp.lan`, type: SRV, answer: "missing" });
  },
  "mistyped names, search lists and blocked advertising": (draw, ask, n) => {
    if (n < 15) ask({ name: `www.wether-station${n}.com`, answer: "missing" });
    ask({ name: `printer${n}.office.corp.lan`, answer: "missing" });
    ask({ name: `${drawText(draw, 12)}.office.example.com`, answer: "missing" });
    ask({ name: `ads.${drawText(draw, 10)}.com`, answer: "missing", additionals: [{ name: ".", type: DNS_TYPE.opt, class: 1232, ttlSeconds: 0, data: { kind: "opt", options: [{ code: 15, value: Uint8Array.of(0, 15) }] } }] });
    ask({ name: `tracker${n}.example.org`, answer: ["0.0.0.0"] });
  },
  "time, load sharing and the site's own names": (draw, ask, n) => {
    const anywhere = () => `${1 + Math.floor(draw() * 220)}.${Math.floor(draw() * 255)}.7.8`;
    ask({ name: `${n % 4}.pool.ntp.org`, ttlSeconds: 130, answer: [anywhere(), anywhere(), anywhere(), anywhere()] });
    ask({ name: "api.unknown-service.com", ttlSeconds: 60, answer: [`52.${Math.floor(draw() * 60)}.1.2`, `3.${Math.floor(draw() * 60)}.1.2`, `54.${Math.floor(draw() * 60)}.3.4`] });
    ask({ name: "vpn.example.com", ttlSeconds: 3600, answer: [n % 2 === 0 ? "198.51.100.7" : "10.0.0.7"] });
    ask({ name: "192-168-1-5.0123456789abcdef.plex.direct", ttlSeconds: 30, answer: ["192.168.1.5"] });
    ask({ name: `host${n % 9}.intern.example.org`, ttlSeconds: 10, answer: [n % 3 === 0 ? "198.51.100.8" : "10.0.0.8"] });
  },
};

test.each(Object.entries(HABITS))("%s are no threat", (_, habit) => {
  for (const seed of [1, 2, 3]) {
    const site = createSite();
    site.dns.resolversNamed([RESOLVER]);
    // The site's names are known as its own when the first of them were seen.
    for (const own of ["a", "b", "c"]) site.ask({ name: `${own}.intern.example.org`, answer: ["10.0.0.8"] });
    const draw = createDraw(seed);
    for (let n = 0; n < 300; n += 1) {
      habit(draw, site.ask, n);
      site.wait(11);
    }
    expect(site.found.map(({ kind, name, signals }) => [kind, name, signals])).toEqual([]);
  }
});

test("all of it from one host together is no threat either", () => {
  const site = createSite();
  const draw = createDraw(9);
  for (const own of ["a", "b", "c"]) site.ask({ name: `${own}.intern.example.org`, answer: ["10.0.0.8"] });
  for (let n = 0; n < 300; n += 1) {
    for (const habit of Object.values(HABITS)) habit(draw, site.ask, n);
    site.wait(5);
  }
  expect(site.found.map(({ kind, name, signals }) => [kind, name, signals])).toEqual([]);
});

test("whatever comes, nothing is thrown", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "1", ".", "\\", "=", "-", "é", "\u0000"), maxLength: 60 });
  fc.assert(fc.property(fc.array(fc.oneof(
    fc.record({ bytes: fc.uint8Array({ maxLength: 200 }), client: name, at: fc.double({ noNaN: true }) }),
    fc.record({ question: name, isResponse: fc.boolean(), type: fc.nat(65_535), at: fc.maxSafeInteger() }),
  ), { maxLength: 60 }), (messages) => {
    const { dns } = createSite();
    const empty = { id: 1, opcode: 0, isAuthoritative: false, isTruncated: false, isRecursionDesired: true, isRecursionAvailable: true, isAuthenticData: false, isCheckingDisabled: false, responseCode: 3 };
    for (const message of messages) {
      const rest = { client: "10.0.0.5", server: RESOLVER, clientPort: 1, at: message.at, bytes: 12 };
      if ("bytes" in message) {
        const decoded = decodeDns(message.bytes);
        if (decoded.ok) dns.exchange({ ...rest, message: decoded.value, client: message.client });
      } else {
        const questions = [{ name: message.question, type: message.type, class: 1, wantsUnicastResponse: false }];
        dns.exchange({ ...rest, message: { ...empty, isResponse: message.isResponse, questions, answers: [], authorities: [], additionals: [] } });
      }
    }
    dns.hello({ client: "", server: "", port: 853, serverName: null, alpn: [], isQuic: true, at: 0 });
  }));
});

test("a flood of names, clients and servers takes no more memory than its bounds, and what is left out is counted", () => {
  const { dns } = createSite();
  const question = { type: 1, class: 1, wantsUnicastResponse: false };
  const message = { id: 1, opcode: 0, isAuthoritative: false, isTruncated: false, isRecursionDesired: true, isRecursionAvailable: true, isAuthenticData: false, isCheckingDisabled: false, answers: [], authorities: [], additionals: [] };
  const flood = (from: number, to: number) => {
    for (let n = from; n < to; n += 1) {
      const rest = { client: `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`, server: `198.51.${(n >> 8) & 255}.${n & 255}`, clientPort: 1, at: n * 1000, bytes: 60 };
      const questions = [{ ...question, name: `${n}.host${n}.com` }];
      dns.exchange({ ...rest, message: { ...message, isResponse: false, responseCode: 0, questions } });
      dns.exchange({ ...rest, message: { ...message, isResponse: true, responseCode: 3, questions } });
    }
  };
  flood(0, 20_000);
  const before = dns.counters().evicted;
  flood(20_000, 40_000);
  // Every pair that is new drives out an old one: of pairs of client and domain, of clients, and of open questions.
  expect(dns.counters().evicted - before).toBe(3 * 20_000);
});
