import { assert, nat, property, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { captureOf } from "../testing/capture-of.ts";
import { conversation } from "../testing/conversation.ts";
import { openRuleTest, type RuleTested, type RuleTestOpening } from "./rule-test.ts";

const REQUEST = "GET /gate.php?id=7 HTTP/1.1\r\nHost: evil.example\r\nUser-Agent: curl/8\r\n\r\n";
const WEB = captureOf(conversation(80).open().say(0, REQUEST).say(1, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").close().packets);
const AFTER = "alert http any any -> any any (";

function opened(text: string, isOver = () => false): RuleTestOpening {
  return openRuleTest(Buffer.from(text, "latin1"), { random: () => 0.5, isOver });
}

function tested(text: string, capture = WEB): RuleTested {
  const opening = opened(text);
  if (!opening.ok) throw new Error(`${opening.refusal.keyword}: ${opening.refusal.reason}`);
  opening.test.push(capture);
  return opening.test.end();
}

const missedBy = (text: string, capture = WEB) => {
  const { missed, matches } = tested(text, capture);
  return [matches, missed && [missed.kind, missed.text, missed.buffer, missed.matchesWithout]];
};

describe("a rule that matches", () => {
  test("says where: frame, flow, direction, buffers and bytes", () => {
    const { matches, alerts, missed, shown, problem, frames, parts } = tested(`${AFTER}flow:established,to_server; http.method; content:"GET"; http.uri; content:"/gate.php"; fast_pattern; sid:1;)`);
    expect([matches, alerts, missed, problem, frames]).toEqual([1, 1, null, null, 10]);
    const [match] = shown;
    expect(match).toMatchObject({ direction: "to-server", source: { ip: "192.0.2.1" }, destination: { ip: "198.51.100.9", port: 80 }, application: "http" });
    expect(match?.frameNumber).toBeGreaterThan(3);
    expect(match?.places.map(({ buffer, offset, length, bytes }) => [buffer, offset, length, Buffer.from(bytes).toString()])).toEqual([["http.method", 0, 3, "GET"], ["http.uri", 0, 9, "/gate.php"]]);
    expect(parts.every((part) => part.matches > 0)).toBe(true);
  });

  test.each(["alert", "drop", "reject", "pass"])("does so though its action is %s", (action) => {
    const { matches, alerts, missed, parts } = tested(`${action} http any any -> any any (http.uri; content:"/gate.php"; sid:1;)`);
    expect([matches, alerts, missed, parts.every((part) => part.matches > 0)]).toEqual([1, action === "pass" ? 0 : 1, null, true]);
  });

  test("gives no alert where it says so itself", () => expect(tested(`${AFTER}http.uri; content:"/gate"; flowbits:set,x; flowbits:noalert; sid:1;)`)).toMatchObject({ matches: 1, alerts: 0, missed: null }));

  test("is not kept from it by what it changes", () => {
    expect(missedBy('alert tcp any any -> any 80 (content:"gate"; flowbits:isnotset,seen; flowbits:set,seen; sid:1;)')).toEqual([1, null]);
    expect(missedBy('alert tcp any any -> any 80 (flags:S; flowint:n,notset; flowint:n,=,1; sid:1;)')).toEqual([1, null]);
  });

  test("finds bits that the rules before it set, even where these pass or are without alerts", () => {
    for (const other of ["alert http any any -> any any (http.uri; content:\"/gate\"; flowbits:set,a; flowbits:noalert; sid:2;)", "pass http any any -> any any (http.uri; content:\"/gate\"; flowbits:set,a; sid:2;)"]) {
      expect(missedBy(`${other}\n${AFTER}http.stat_code; content:"200"; flowbits:isset,a; sid:1;)`)).toEqual([1, null]);
    }
  });
});

describe("a rule that does not match names the part", () => {
  test.each([
    ["protocol", 'alert udp any any -> any any (content:"gate"; sid:1;)', ["protocol", "udp", "", true]],
    ["application", 'alert tls any any -> any any (content:"gate"; sid:1;)', ["application", "tls", "", true]],
    ["addresses", 'alert http [10.0.0.0/8,!10.1.0.0/16] any -> any any (http.uri; content:"/gate"; sid:1;)', ["addresses", "[10.0.0.0/8,!10.1.0.0/16] -> any", "", true]],
    ["ports", 'alert tcp any any -> any 8080 (content:"gate"; sid:1;)', ["ports", "any -> 8080", "", true]],
    ["direction", 'alert tcp any 80 -> any any (content:"gate"; sid:1;)', ["direction", "any 80 -> any any", "", true]],
    ["flow", 'alert tcp any any -> any 80 (flow:to_client; sid:1;)', ["flow", "flow:to_client", "", true]],
    ["flow's state", 'alert tcp any any -> any 80 (flow:not_established; content:"gate"; sid:1;)', ["flow", "flow:not_established", "", true]],
    ["a fact", 'alert tcp any any -> any 80 (dsize:>5000; sid:1;)', ["condition", "dsize > 5000", "", true]],
    ["a buffer", `${AFTER}http.cookie; content:"a"; sid:1;)`, ["buffer", "http.cookie", "http.cookie", null]],
    ["a content", `${AFTER}http.uri; content:"/gate"; content:".asp|3b|"; distance:0; nocase; sid:1;)`, ["content", 'content:".asp|3b|", nocase, distance 0', "http.uri", null]],
    ["a negated content", `${AFTER}http.uri; content:!"gate"; sid:1;)`, ["content", 'content:!"gate"', "http.uri", null]],
    ["an expression", String.raw`${AFTER}http.uri; content:"id="; pcre:"/^\d{2}/R"; sid:1;)`, ["pcre", String.raw`pcre:"/^\d{2}/R"`, "http.uri", null]],
    ["a number in the bytes", `${AFTER}http.uri; content:"id="; byte_test:1,>,8,0,string,dec,relative; sid:1;)`, ["bytes", "byte_test:1,>,8,0,relative", "http.uri", null]],
    ["a transform's", `${AFTER}http.uri; to_uppercase; content:"gate"; sid:1;)`, ["content", 'content:"gate"', "http.uri with to-uppercase", null]],
    ["a bit", `${AFTER}http.uri; content:"/gate"; flowbits:isset,never; sid:1;)`, ["bits", "flowbits:isset,never", "", true]],
    ["a threshold", `${AFTER}http.uri; content:"/gate"; threshold:type threshold, track by_src, count 3, seconds 60; sid:1;)`, ["threshold", "threshold:type threshold, track source, count 3, seconds 60", "", true]],
    ["a filter", `${AFTER}http.uri; content:"/gate"; detection_filter:track by_dst, count 5, seconds 9; sid:1;)`, ["threshold", "detection_filter:track destination, count 5, seconds 9", "", true]],
  ] as const)("%s", (_, text, expected) => {
    const [matches, missed] = missedBy(text);
    expect([matches === 0 || text.includes("threshold") || text.includes("filter"), missed]).toEqual([true, expected]);
  });

  test("with the place that has all before it", () => {
    const { missed } = tested(`${AFTER}http.uri; content:"/gate"; content:"&end"; sid:1;)`);
    expect([missed?.candidate?.places[0]?.buffer, Buffer.from(missed?.candidate?.places[0]?.bytes ?? []).toString()]).toEqual(["http.uri", "/gate"]);
  });

  test("and the bits that nobody sets", () => expect(tested(`${AFTER}http.uri; content:"/gate"; flowbits:isset,never; sid:1;)`).unsetBits).toEqual(["never"]));
});

describe("what cannot be tested", () => {
  test.each([
    ["alert tcp any any -> any any (lua:a.lua; sid:1;)", "lua"], ["alert tcp any any -> any any (content:\"a\"; sid:1", "rule"], ["", "rule"], ["# nothing", "rule"], ["x".repeat(70_000), "rule"],
    ["alert tcp $NOBODY any -> any any (content:\"a\"; sid:1;)", "source"], ["alert tcp any any -> any any (decode-event:ipv4.trunc_pkt; sid:1;)", "decode-event"],
  ])("is refused by its keyword: %.60s", (text, keyword) => {
    const opening = opened(text);
    expect(opening).toMatchObject({ ok: false, refusal: { keyword: opening.ok ? "" : keyword === "decode-event" ? expect.any(String) as string : keyword } });
  });

  test("a rule whose expression cannot be run is refused with the reason", () => {
    expect(opened(`${AFTER}http.uri; pcre:"/(gate/"; sid:1;)`)).toMatchObject({ ok: false, refusal: { id: 1, keyword: "pcre", reason: expect.stringMatching(/./) as string } });
  });

  test("a rule beside it that is refused is named, and the test goes on", () => {
    expect(tested(`alert tcp any any -> any any (lua:a; sid:5;)\n${AFTER}http.uri; content:"/gate"; sid:1;)`)).toMatchObject({ matches: 1, refusals: [{ id: 5, keyword: "lua" }] });
  });

  test("a file that is no capture, or is cut, says so", () => {
    expect(tested(`${AFTER}http.uri; content:"/gate"; sid:1;)`, Buffer.from("no capture at all, but some words"))).toMatchObject({ matches: 0, frames: 0, problem: "it is no pcap or pcapng file" });
    expect(tested(`${AFTER}http.uri; content:"/gate"; sid:1;)`, WEB.subarray(0, WEB.length - 10)).problem).toMatch(/cut off at byte/);
  });

  test("a capture stops where time is over", () => {
    let looks = 0;
    const opening = opened(`${AFTER}http.uri; content:"/gate"; sid:1;)`, () => (looks += 1) > 5);
    if (!opening.ok) throw new Error(opening.refusal.reason);
    expect([opening.test.push(WEB), opening.test.push(WEB), opening.test.end()]).toMatchObject([false, false, { frames: 5, problem: expect.stringContaining("behind frame 5") as string }]);
  });
});

describe("attacks", () => {
  test("a rule of 500 contents is tried in a hundred parts", () => {
    const contents = Array.from({ length: 499 }, (_, index) => `content:"${index % 2 === 0 ? "g" : "a"}"; `).join("");
    const { parts, missed } = tested(`${AFTER}http.uri; ${contents}content:"never"; sid:1;)`);
    expect([parts.length, missed?.text]).toEqual([100, 'content:"a" and 404 more']);
  });

  test("an expression without end stops at its bound of work, and that is said", () => {
    const long = captureOf(conversation(80).open().say(0, `GET /${"a".repeat(1200)}! HTTP/1.1\r\nHost: a\r\n\r\n`).say(1, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").close().packets);
    const { matches, gaveUp } = tested(String.raw`${AFTER}http.uri; pcre:"/^(?:\/)((a+)+)+\2$/"; sid:1;)`, long);
    expect([matches, gaveUp]).toEqual([0, true]);
  });

  test("whatever the bytes are, a test ends and says what it read", () => {
    assert(property(uint8Array({ maxLength: 400 }), nat(WEB.length), (bytes, at) => {
      const damaged = Buffer.concat([WEB.subarray(0, at), bytes]);
      expect(tested(`${AFTER}http.uri; content:"/gate"; sid:1;)`, damaged).frames).toBeLessThan(60);
    }), { numRuns: 200, seed: 7 });
  });
});
