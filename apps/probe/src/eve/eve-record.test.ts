import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseEveLine } from "./eve-record.ts";
import { alertLine, statsLine } from "./testing/eve-lines.ts";

const parse = (line: string) => parseEveLine(Buffer.from(line));

test("an alert says the rule, who spoke to whom, and what the application said", () => {
  expect(parse(alertLine())).toEqual({
    kind: "alert",
    finding: {
      engine: "suricata", times: 1, at: Date.parse("2026-11-20T19:08:01.309Z"),
      rule: {
        gid: 1, id: 2_000_001, revision: 2, message: "TEST request", category: "Web Application Attack", className: "", priority: 1, severity: "high", techniques: ["T1071"],
      },
      source: { ip: "192.168.1.5", port: 10_245 }, destination: { ip: "198.51.100.8", port: 80 }, protocol: "tcp", application: "http",
      direction: "to-server", wouldBlock: false, target: null, matched: [],
      fields: { hostname: "evil.example", url: "/gate.php", method: "GET", status: "200" }, packet: null,
    },
  });
});

test.each([
  ["the class says how bad it is where the rule does not", alertLine({}, { metadata: {}, severity: 2 }), { rule: { severity: "medium" } }],
  ["a target is an end", alertLine({}, { target: { ip: "198.51.100.8" }, source: { ip: "192.168.1.5" } }), { target: "destination" }],
  ["a blocked packet", alertLine({}, { action: "blocked" }), { wouldBlock: true }],
  ["a question of version 7", alertLine({ dns: { query: [{ type: "query", rrname: "c2.example" }] } }), { fields: { query: "c2.example" } }],
  ["a frame", alertLine({ packet: "AAECAw==", packet_info: { linktype: 1 } }), { packet: Buffer.from([0, 1, 2, 3]) }],
  ["a packet without Ethernet is no frame", alertLine({ packet: "AAECAw==", packet_info: { linktype: 12 } }), { packet: null }],
  ["without ports", alertLine({ src_port: undefined, dest_port: undefined, proto: "ICMP" }), { source: { port: 0 }, protocol: "icmp" }],
  ["addresses that are none", alertLine({ src_ip: "x" }), { source: { ip: "" } }],
])("%s", (_, line, finding) => {
  expect(parse(line)).toMatchObject({ kind: "alert", finding });
});

test("what it dropped is read, and other records are passed over", () => {
  expect(parse(statsLine(100, 7))).toEqual({ kind: "drops", drops: { packets: 100, kernelDropped: 7, memoryDropped: 3 } });
  expect(parse('{"timestamp":"2026-11-20T19:08:02.000000+0000","event_type":"flow","src_ip":"1.1.1.1"}')).toEqual({ kind: "other" });
  expect(parse('{"timestamp":"2026-11-20T19:08:02.000000+0000","event_type":"anomaly","anomaly":{"type":"stream","event":"stream.pkt_invalid_ack"}}'))
    .toEqual({ kind: "anomaly", type: "stream", event: "stream.pkt_invalid_ack" });
});

test.each([
  "", "{", "x", "[]", '{"a":1}', '{"timestamp":"x","event_type":"alert"}', '{"timestamp":"2026","event_type":"alert","alert":{}}', alertLine().slice(0, -40),
  alertLine({ timestamp: "yesterday" }), alertLine({}, { signature_id: -1 }), alertLine({}, { signature_id: "7" }),
])("a line that is no record is malformed: %s", (line) => {
  expect(parse(line)).toEqual({ kind: "malformed" });
});

test("a host on the network cannot name the type of a record", () => {
  const line = JSON.stringify({ timestamp: "2026-11-20T19:08:02.000000+0000", event_type: "http", http: { url: '"event_type":"alert"' } });
  expect(parse(line)).toEqual({ kind: "other" });
});

test("no bytes make it throw", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(900), (bytes, at) => {
    const line = Buffer.from(alertLine());
    line.set(bytes.subarray(0, Math.max(0, line.length - at)), Math.min(at, line.length));
    parseEveLine(line);
    parseEveLine(Buffer.from(bytes));
  }));
});
