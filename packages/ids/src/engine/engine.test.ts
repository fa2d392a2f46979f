import { expect, test } from "vitest";
import { HTTP_APPLICATION } from "../applications/http/http.ts";
import { baseOf, runRules } from "./testing/run-rules.ts";
import { conversation, type Packet } from "./testing/conversation.ts";

/** @returns `sid>` for each alert to the server, `sid<` to the client, in their order. */
function alertsOf(rules: readonly string[], packets: readonly Packet[]): string {
  const { play, analyzer, alerts, ids } = runRules(rules);
  play(packets);
  analyzer.flush();
  expect(ids.counters().heldBytes).toBe(0);
  return alerts.join(" ");
}

test("contents are looked for in streams, across segments, once a chunk", () => {
  const { packets } = conversation().open().say(0, "one e", "vil two evil").say(1, "evil").close();
  expect(alertsOf(['content:"evil";', 'content:"one evil"; depth:8;', 'dsize:>10; content:"evil";', 'content:"none";', 'content:!"none";'], packets)).toBe("3> 1> 2> 5> 1< 5<");
});

test("a content that is cut between two chunks is found", () => {
  const { packets } = conversation().open().say(0, `${"a".repeat(2558)}ev`, "il", "end").close();
  expect(alertsOf(['content:"evil";', 'content:"evilend";'], packets)).toBe("1> 2>");
});

test("a stream without its handshake is looked at packet by packet", () => {
  const { packets } = conversation().say(0, "one e", "vil").say(1, "evil");
  expect(alertsOf(['content:"evil";', 'flow:established; content:"evil";'], packets)).toBe("1<");
});

test("bits that one rule sets are there for the next", () => {
  const { packets } = conversation().open().say(0, "login").say(1, "welcome").say(0, "attack").close();
  expect(alertsOf(['content:"attack"; flowbits:isset,in;', 'content:"welcome"; flowbits:set,in; flowbits:noalert;', 'content:"attack"; flowbits:isset,other;'], packets)).toBe("1>");
});

test("other rules are used from the next packet on, and flows keep their bits", () => {
  const { packets } = conversation().open().say(0, "login").say(1, "welcome").say(0, "attack").close();
  const { play, analyzer, alerts, ids } = runRules(['alert tcp any any -> any any (content:"login"; flowbits:set,in; flowbits:noalert; sid:9;)']);
  const cut = packets.length - 5;
  play(packets.slice(0, cut));
  ids.replace(baseOf(['content:"attack"; flowbits:isset,in;', 'content:"login";']));
  play(packets.slice(cut));
  analyzer.flush();
  expect(alerts.filter((alert) => alert === "1>")).toEqual(["1>"]);
});

test("rules that come later than a connection see what comes of it from then on", () => {
  const { packets } = conversation().open().say(0, "evil one").say(1, "x".repeat(3000)).say(0, "evil two").close();
  const { play, analyzer, alerts, ids } = runRules([]);
  play(packets.slice(0, 7));
  ids.replace(baseOf(['content:"evil";', 'content:"evil one";']));
  play(packets.slice(7));
  analyzer.flush();
  expect(alerts).toEqual(["1>"]);
});

test("memory that one connection had shows nothing of it to the next, and what an alert has of it stays", () => {
  const { play, analyzer, given } = runRules(['flow:to_client; http.response_body; content:"secret"; endswith;', 'flow:to_client; content:"secret";'], {}, [HTTP_APPLICATION]);
  const talk = (port: number, body: string) => conversation(80, port).open().say(0, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").say(1, `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`, body).close().packets;
  play(talk(40_000, `${"x".repeat(900)}secret`));
  for (let port = 40_001; port < 40_020; port += 1) play(talk(port, "y".repeat(port % 2 === 0 ? 10 : 906)));
  analyzer.flush();
  const found = given.map(({ rule, destination, places }) => `${rule.id} ${destination.port} ${places.map(({ bytes }) => Buffer.from(bytes).toString("latin1")).join()}`);
  expect(found.toSorted()).toEqual(["1 40000 secret", "2 40000 secret"]);
});
