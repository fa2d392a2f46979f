import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { DEFAULT_VARIABLES, MAX_REFUSALS, parseRules, parseRulesInSteps } from "./rule-set.ts";
import { MAX_UNSET_BITS } from "./bit-census.ts";
import { bytesOf, readRefusal, readRule } from "./testing/rule-text.ts";
import { MAX_RULE_BYTES } from "./text/lines.ts";

const ANY = "alert ip any any -> any any";

function ipv4(text: string): number {
  return text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function holds(ranges: readonly number[], value: number): boolean {
  return ranges.some((first, index) => index % 2 === 0 && first <= value && value <= (ranges[index + 1] ?? -1));
}

describe("a header", () => {
  test("has groups, negations, networks, ranges and masks", () => {
    const { source } = readRule("", "alert ip [10.0.0.0/8, !10.1.0.0/255.255.0.0, 192.0.2.1-192.0.2.9, 2001:db8::/127] any -> any any");
    expect(source.addresses).toEqual({
      isAny: false,
      ipv4: [ipv4("10.0.0.0"), ipv4("10.0.255.255"), ipv4("10.2.0.0"), ipv4("10.255.255.255"), ipv4("192.0.2.1"), ipv4("192.0.2.9")],
      ipv6: [0x20010db8n << 96n, (0x20010db8n << 96n) + 1n],
    });
  });

  test("of negations alone is all but those, in both versions of IP", () => {
    const { source, destination } = readRule("", "alert ip !10.0.0.0/8 any -> [!::1] any");
    expect(source.addresses.ipv4).toEqual([0, ipv4("9.255.255.255"), ipv4("11.0.0.0"), 0xffff_ffff]);
    expect(source.addresses.ipv6).toEqual([0n, (1n << 128n) - 1n]);
    expect(destination.addresses).toEqual({ isAny: false, ipv4: [0, 0xffff_ffff], ipv6: [0n, 0n, 2n, (1n << 128n) - 1n] });
  });

  test("has ports with open ends and groups in groups", () => {
    const { source, destination } = readRule("", "alert tcp any [80,[1000:2000,!1500],65000:] <> any !1024:");
    expect(source.ports.ranges).toEqual([80, 80, 1000, 1499, 1501, 2000, 65_000, 65_535]);
    expect(destination.ports.ranges).toEqual([0, 1023]);
  });

  test("resolves variables of variables, and gives equal sets as one object", () => {
    const text = "alert tcp $HOME_NET any -> $EXTERNAL_NET $HTTP_PORTS (sid:1;)\nalert tcp [10.0.0.0/8] any -> !$HOME_NET 80 (sid:2;)";
    const { rules } = parseRules(bytesOf(text), { addresses: { HOME_NET: "10.0.0.0/8" } });
    expect(rules.map(({ id }) => id)).toEqual([1, 2]);
    expect(rules[0]?.source.addresses).toBe(rules[1]?.source.addresses);
    expect(rules[0]?.destination.addresses).toBe(rules[1]?.destination.addresses);
    expect(rules[0]?.destination.ports).toBe(rules[1]?.destination.ports);
  });

  test.each([
    ["alert tcp $NONE any -> any any", "source"], ["alert tcp !any any -> any any", "source"], ["alert tcp 10.0.0.1/33 any -> any any", "source"], ["alert tcp 1.2.3.256 any -> any any", "source"],
    ["alert tcp [10.0.0.1,] any -> any any", "source"], ["alert tcp ::1::2 any -> any any", "source"], ["alert tcp $LOOP any -> any any", "source"], ["alert tcp any 70000 -> any any", "source"],
    ["alert tcp any any -> any 20:10", "destination"], ["alert tcp any any <- any any", "direction"], ["shout tcp any any -> any any", "action"], ["alert nosuch any any -> any any", "protocol"],
    ["alert tcp any any -> any", "header"],
  ])("%s is refused for its %s", (header, keyword) => {
    const { refusals } = parseRules(bytesOf(`${header} (sid:1;)`), { addresses: { LOOP: "[$LOOP,10.0.0.1]" } });
    expect(refusals).toMatchObject([{ keyword, id: 1 }]);
  });

  test("a rule with more matches than can be run is refused", () => {
    const { rules, refusals } = parseRules(bytesOf([500, 501].map((count) => `alert tcp any any -> any any (${'content:"a"; '.repeat(count)}sid:${count};)`).join("\n")));
    expect([rules.map(({ id }) => id), refusals]).toMatchObject([[500], [{ keyword: "content", id: 501 }]]);
  });

  test("names protocols by transport, version of IP, application and what it looks at", () => {
    const protocolOf = (name: string) => readRule("", `alert ${name} any any -> any any`).protocol;
    expect(protocolOf("tcp-pkt")).toEqual({ name: "tcp-pkt", numbers: [6], ipVersion: null, applications: null, scope: "packet" });
    expect(protocolOf("icmp").numbers).toEqual([1, 58]);
    expect(protocolOf("ipv6")).toMatchObject({ numbers: null, ipVersion: 6 });
    expect(protocolOf("HTTP").applications).toEqual(["http", "http2"]);
    expect(protocolOf("dns").numbers).toEqual([6, 17]);
  });
});

test("groups of addresses hold what set arithmetic says", () => {
  const place = fc.integer({ min: 0, max: 31 });
  const range = fc.tuple(place, place, fc.boolean()).map(([a, b, isNegated]) => ({ low: Math.min(a, b), high: Math.max(a, b), isNegated }));
  fc.assert(fc.property(fc.array(range, { minLength: 1, maxLength: 6 }), (ranges) => {
    const text = ranges.map(({ low, high, isNegated }) => `${isNegated ? "!" : ""}${low}:${high}`).join(",");
    const chosen = ranges.filter(({ isNegated }) => !isNegated);
    const isIn = (port: number) => (chosen.length === 0 || chosen.some(({ low, high }) => low <= port && port <= high))
      && !ranges.some(({ low, high, isNegated }) => isNegated && low <= port && port <= high);
    const { rules } = parseRules(bytesOf(`alert tcp any [${text}] -> any any (sid:1;)`));
    const ports = Array.from({ length: 40 }, (_, port) => port);
    expect(ports.map((port) => holds(rules[0]?.source.ports.ranges ?? [], port))).toEqual(ports.map(isIn));
  }));
});

test("any bytes come back out of a content that was written with escapes", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.boolean(), (bytes, isHex) => {
    const text = Array.from(bytes, (byte) => {
      const character = String.fromCharCode(byte);
      const isPlain = !isHex && byte >= 32 && byte < 127 && character !== "|";
      return isPlain ? character.replace(/["\\;:]/, "\\$&") : `|${byte.toString(16).padStart(2, "0")}|`;
    }).join("");
    expect(readRule(`content:"${text}";`).buffers[0]?.matches[0]).toMatchObject({ kind: "content", bytes });
  }));
});

test("text of any kind gives rules or refusals and never throws", () => {
  const word = fc.constantFrom(
    "alert tcp any any -> any any (", "content:\"", "|", "\"", ";", ":", "!", ",", "\\", "sid:1;", ")", "[", "]", "$HOME_NET", "pcre:\"/", "/U\"", "http.uri;", "byte_test:", "1,=,2,3", "flowbits:isset,a",
    "threshold:type limit", "\n", " ", "relative", "0x", "<>", "__proto__", "constructor", "fast_pattern", "distance:", "-1", "\u00e9", "metadata:", "xbits:", "track ip_src", "bsize:", "tag:", "requires:",
  );
  fc.assert(fc.property(fc.array(fc.oneof(word, fc.string({ maxLength: 6 })), { maxLength: 60 }), (words) => {
    const { rules, refusedCount } = parseRules(bytesOf(words.join("")));
    expect(rules.length + refusedCount).toBeLessThanOrEqual(words.join("").split("\n").length);
  }), { numRuns: 1000 });
});

test("lines go on behind a backslash, and comments and empty lines are passed over", () => {
  const text = "# a comment\r\n\r\nalert tcp any any -> any any ( \\\r\n  msg:\"a\"; \\\r\n  sid:7;)\r\nbroken\n#alert tcp any any -> any any (sid:8;)\nalert ip any any -> any any (sid:9;)";
  const { rules, refusals } = parseRules(bytesOf(text));
  expect(rules.map(({ id, line, message }) => [id, line, message])).toEqual([[7, 3, "a"], [9, 8, ""]]);
  expect(refusals).toMatchObject([{ line: 6, id: null, keyword: "rule" }]);
});

test("of two rules with one id the higher revision counts, and the other is named", () => {
  const { rules, refusals } = parseRules(bytesOf([1, 3, 2].map((revision) => `${ANY} (msg:"r${revision}"; rev:${revision}; sid:5;)`).join("\n")));
  expect(rules.map(({ message }) => message)).toEqual(["r3"]);
  expect(refusals.map(({ line, id, keyword }) => [line, id, keyword])).toEqual([[2, 5, "sid"], [3, 5, "sid"]]);
});

test("requires leaves rules for other engines out without fault", () => {
  const rule = (requires: string, id: number) => `${ANY} (future_keyword:1; requires:${requires}; sid:${id};)`;
  const met = (requires: string, id: number) => `${ANY} (requires:${requires}; sid:${id};)`;
  const text = [
    rule("version >= 99", 1), rule("feature geoip", 2), rule("keyword future_keyword", 3), rule("something new", 4), met("version >= 7.0.3 < 9", 5), met("version < 7 | >= 8.0.0", 6), met("keyword http.uri", 7),
    met("version >= 8, version < 9", 8),
  ].join("\n");
  const { rules, unmet, refusals } = parseRules(bytesOf(text));
  expect([rules.map(({ id }) => id), unmet.map(({ id }) => id), refusals.map(({ id, keyword }) => [id, keyword])]).toEqual([[5, 6, 7], [1, 2, 3, 4], [[8, "requires"]]]);
});

test("bits that are asked for and never set are named with their rules", () => {
  const text = [
    "flowbits:set,a", "flowbits:isset,a", "flowbits:isset,b", "flowbits:isset,a|b", "flowbits:isnotset,c", "xbits:isset,x,track ip_src", "xbits:set,x,track ip_dst", "flowint:n,isset", "flowbits:toggle,t",
    "flowbits:isset,t",
  ].map((option, index) => `${ANY} (${option}; sid:${index + 1};)`).join("\n");
  expect(parseRules(bytesOf(text)).unsetBits).toEqual([{ kind: "flow-bit", name: "b", ids: [3, 4] }, { kind: "flow-number", name: "n", ids: [8] }]);
});

describe("hostile text", () => {
  test("a line of 50 MB is refused whole, and the next one is read", () => {
    const bytes = Buffer.alloc(50_000_000, "a");
    const text = Buffer.concat([Buffer.from(`${ANY} (content:"`), bytes, Buffer.from(`"; sid:1;)\n${ANY} (sid:2;)\n`)]);
    const { rules, refusals } = parseRules(new Uint8Array(text));
    expect([rules.map(({ id }) => id), refusals.map(({ line, keyword }) => [line, keyword])]).toEqual([[2], [[1, "rule"]]]);
  });

  test("continued for ever, lines are refused as one", () => {
    const { rules, refusals } = parseRules(bytesOf(`${"a\\\n".repeat(200_000)}end\n${ANY} (sid:2;)`));
    expect([rules.length, refusals.map(({ line }) => line)]).toEqual([1, [1]]);
  });

  const fill = (text: string) => text.repeat(Math.floor((MAX_RULE_BYTES - 1000) / text.length));

  test.each([
    ["deep groups", `alert tcp ${fill("[")}10.0.0.1] any -> any any (sid:1;)`],
    ["negated groups", `alert tcp ${fill("[!")} any -> any any (sid:1;)`],
    ["long groups", `alert tcp [${fill("10.0.0.1,!10.0.0.2,")}10.0.0.3] any -> any any (sid:1;)`],
    ["white space in a port", `alert tcp any [1${fill(" ")}x] -> any any (sid:1;)`],
    ["white space in a number", `${ANY} (dsize:1${fill(" ")}=; sid:1;)`],
    ["many options", `${ANY} (${fill("content:\"a\";")} sid:1;)`],
    ["many sticky buffers", `${ANY} (${fill("dns.query;content:\"a\";")} sid:1;)`],
    ["captures", `${ANY} (pcre:"${fill("/,pkt:a")}x"; sid:1;)`],
    ["escapes", `${ANY} (msg:"${fill("\\;")}"; sid:1;)`],
    ["commas", `${ANY} (metadata:${fill("a b,")}; sid:1;)`],
    ["variables", `${ANY} (${fill("byte_extract:1,0,a;")} sid:1;)`],
    ["bits", `${ANY} (flowbits:isset,${fill("a|")}a; sid:1;)`],
    ["quotes", `${ANY} (${fill("\"")}; sid:1;)`],
  ])("%s cost as much as other text", (_, text) => {
    const before = process.cpuUsage();
    for (let count = 0; count < 5; count += 1) parseRules(bytesOf(text));
    const { user } = process.cpuUsage(before);
    expect(user / 5).toBeLessThan(300_000);
  });

  test("variables that double each other cost one set each", () => {
    const addresses = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`V${index}`, index === 0 ? "10.0.0.1" : `[$V${index - 1},$V${index - 1}]`]));
    const { rules } = parseRules(bytesOf("alert tcp $V12 any -> any any (sid:1;)"), { addresses: { ...DEFAULT_VARIABLES.addresses, ...addresses } });
    expect(rules[0]?.source.addresses.ipv4).toEqual([ipv4("10.0.0.1"), ipv4("10.0.0.1")]);
  });

  test("long files are gone through in small steps, whatever is in them", () => {
    const stepsOf = (text: string, times: number) => {
      const steps = parseRulesInSteps([Buffer.alloc(text.length * times, text, "latin1")]);
      let count = 0;
      let step = steps.next();
      for (; !step.done; step = steps.next()) count += 1;
      return { count, refused: step.value.refusedCount };
    };
    expect(stepsOf("# a comment\n", 500_000).count).toBeGreaterThan(80);
    expect(stepsOf("\n", 2_000_000).count).toBeGreaterThan(20);
    expect(stepsOf("a\\\n", 1_000_000)).toMatchObject({ count: expect.toSatisfy((count: number) => count > 40) as number, refused: 1 });
    expect(stepsOf(`alert tcp any any -> any any (content:"${"a".repeat(8000)}"; sid:1;)\n`, 100)).toMatchObject({ count: expect.toSatisfy((count: number) => count >= 100) as number, refused: 99 });
  });

  test("a file that ends in the middle of a rule gives those before it", () => {
    const text = `${ANY} (content:"one"; sid:1;)\n${ANY} (content:"two|41 42|"; pcre:"/a+/"; metadata:a b; sid:2;)`;
    for (let end = text.indexOf("\n"); end < text.length; end += 1) {
      const { rules, refusals } = parseRules(bytesOf(text.slice(0, end)));
      expect([rules.map(({ id }) => id), refusals.length <= 1]).toEqual([[1], true]);
    }
  });

  test("a million flowbits are counted, and refusals are kept up to a bound", () => {
    const names = Array.from({ length: 1_000_000 }, (_, index) => `b${index}`);
    const lines = Array.from({ length: 1000 }, (_, index) => `${ANY} (flowbits:isset,${names.slice(index * 1000, index * 1000 + 1000).join("|")}; sid:${index + 1};)`);
    const { rules, unsetBits } = parseRules(bytesOf(lines.join("\n")));
    expect([rules.length, unsetBits.length, unsetBits.at(-1)?.name]).toEqual([1000, MAX_UNSET_BITS, `b${MAX_UNSET_BITS - 1}`]);
    const many = parseRules(bytesOf("x\n".repeat(MAX_REFUSALS + 5)));
    expect([many.refusals.length, many.refusedCount]).toEqual([MAX_REFUSALS, MAX_REFUSALS + 5]);
  });
});

test("a refusal names the rule although its sid stands last", () => {
  expect(readRefusal("nosuch:1;")).toEqual({ line: 1, id: 1, gid: 1, keyword: "nosuch", reason: "unknown keyword" });
});

test("rules of several files are read a few at a step, with one set for equal addresses", () => {
  const file = (first: number) => bytesOf(Array.from({ length: 100 }, (_, index) => `alert tcp $HOME_NET any -> any any (sid:${first + index};)`).join("\n"));
  const steps = parseRulesInSteps([file(1), file(1001), bytesOf("x")]);
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count += 1;
  const { rules, refusals } = step.value;
  expect([rules.length, refusals.map(({ line }) => line), count > 4]).toEqual([200, [1], true]);
  expect(new Set(rules.map(({ source }) => source.addresses)).size).toBe(1);
});
