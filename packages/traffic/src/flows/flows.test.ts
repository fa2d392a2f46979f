import { encodeUdp, IP_PROTOCOL } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { echoFrame, ip, openAnalyzer, packetFrame, recordsOf, START, tcpFrame, udpFrame } from "../testing/frames.ts";

const [CLIENT, SERVER] = ["192.0.2.1", "192.0.2.9"];
const QUERY = udpFrame({ from: CLIENT, to: SERVER }, [50_000, 53], "who?");
const REPLY = udpFrame({ from: SERVER, to: CLIENT }, [53, 50_000], "nobody");

describe("datagrams of both directions are one flow", () => {
  test("begun by the first sender", () => {
    expect(recordsOf([QUERY, REPLY, QUERY])).toEqual([expect.objectContaining({
      protocol: "udp", originator_ip: CLIENT, originator_port: 50_000, responder_port: 53, originator_bytes: 8, responder_bytes: 6, originator_packets: 2,
      history: "Dd", state: "SF", is_one_sided: false, originator_ip_bytes: 64, duration: 0.002,
    })]);
    expect(recordsOf([QUERY])).toEqual([expect.objectContaining({ state: "S0", is_one_sided: true })]);
  });

  test("an answer from a server's port was asked for by its receiver", () => {
    expect(recordsOf([REPLY])).toEqual([expect.objectContaining({ originator_ip: CLIENT, responder_port: 53, history: "^d", state: "SHR" })]);
  });

  test("over IPv6 too", () => {
    const [client, server] = ["2001:db8::1", "2001:db8:0:1::9"];
    const frames = [udpFrame({ from: server, to: client }, [9999, 50_000], "x"), udpFrame({ from: client, to: server }, [50_000, 9999], "yz")];
    expect(recordsOf(frames)).toEqual([expect.objectContaining({
      originator_ip: server, originator_port: 9999, responder_ip: client, responder_bytes: 2, originator_ip_bytes: 49,
    })]);
  });

  test("but in another VLAN, of another port or address they are another", () => {
    const flows = recordsOf([
      QUERY, udpFrame({ from: CLIENT, to: SERVER, vlanIds: [10] }, [50_000, 53], "who?"), udpFrame({ from: CLIENT, to: SERVER, vlanIds: [10, 20] }, [50_000, 53], "who?"),
      udpFrame({ from: SERVER, to: CLIENT, vlanIds: [10, 20] }, [53, 50_000], "me"), udpFrame({ from: CLIENT, to: SERVER }, [50_001, 53], "who?"),
      udpFrame({ from: CLIENT, to: "192.0.2.8" }, [50_000, 53], "who?"), tcpFrame({ from: CLIENT, to: SERVER }, [50_000, 53], { flags: "S", seq: 1 }),
    ]);
    const counts = flows.map((flow) => `${flow.vlan_id} ${flow.inner_vlan_id} ${flow.originator_packets + flow.responder_packets}`);
    expect(counts.toSorted()).toEqual(["10 20 2", "10 null 1", ...Array.from({ length: 4 }, () => "null null 1")]);
  });

  test("of a host to itself, all are the originator's", () => {
    const frame = udpFrame({ from: CLIENT, to: CLIENT }, [5000, 5000], "x");
    expect(recordsOf([frame, frame])).toEqual([expect.objectContaining({ originator_packets: 2, responder_packets: 0 })]);
  });
});

describe("ICMP", () => {
  const ask = (id: number) => echoFrame({ from: CLIENT, to: SERVER }, true, id);
  const answer = (id: number) => echoFrame({ from: SERVER, to: CLIENT }, false, id);

  test("echoes of one identifier are one flow of who asks", () => {
    const flows = recordsOf([ask(7), answer(7), ask(8), ask(7)]).map((flow) => [flow.icmp_id, flow.originator_packets, flow.responder_packets].join(" "));
    expect(flows.toSorted()).toEqual(["7 2 1", "8 1 0"]);
    expect(recordsOf([answer(7), ask(7)])).toEqual([expect.objectContaining({
      protocol: "icmp", originator_ip: CLIENT, originator_port: 8, responder_port: 0, responder_packets: 1, state: "OTH", icmp_id: 7,
    })]);
  });

  test("an error is a flow of its type and code", () => {
    const unreachable = (code: number) => packetFrame({ from: SERVER, to: CLIENT }, IP_PROTOCOL.icmpv4, Uint8Array.of(3, code, 0, 0, 0, 0, 0, 0));
    const flows = recordsOf([unreachable(3), unreachable(1), unreachable(3)]).map((flow) => [flow.originator_port, flow.responder_port, flow.originator_packets].join(" "));
    expect(flows.toSorted()).toEqual(["3 1 1", "3 3 2"]);
  });
});

test("other protocols have no ports, but those that have", () => {
  const frames = [
    packetFrame({ from: CLIENT, to: SERVER }, 89, new Uint8Array(24)), packetFrame({ from: SERVER, to: CLIENT }, 89, new Uint8Array(24)),
    packetFrame({ from: CLIENT, to: SERVER }, 132, Uint8Array.of(0x12, 0x34, 0x0b, 0x80, 0, 0, 0, 0, 0, 0, 0, 0)), packetFrame({ from: CLIENT, to: SERVER }, 253, new Uint8Array(4)),
  ];
  const flows = recordsOf(frames).map((flow) => [flow.protocol, flow.originator_port, flow.responder_port, flow.responder_packets].join(" "));
  expect(flows.toSorted()).toEqual(["ip-253 0 0 0", "ospf 0 0 1", "sctp 4660 2944 0"]);
});

describe("time", () => {
  const frameAt = (analyzer: ReturnType<typeof openAnalyzer>["analyzer"], frame: Uint8Array, seconds: number) => {
    analyzer.frame(frame, frame.length, START + seconds * 1e6);
  };

  test("ends what is idle, by the packets' own clock or by a tick", () => {
    const { analyzer, records } = openAnalyzer({ flows: { udpIdleSeconds: 60 } });
    frameAt(analyzer, QUERY, 0);
    frameAt(analyzer, QUERY, 59);
    frameAt(analyzer, echoFrame({ from: CLIENT, to: SERVER }, true, 1), 118);
    expect(records).toEqual([]);
    frameAt(analyzer, echoFrame({ from: CLIENT, to: SERVER }, true, 1), 120);
    expect(records).toEqual([expect.objectContaining({ originator_packets: 2, duration: 59, ended_by: "idle" })]);
    analyzer.tick(START + 300e6);
    expect([records.length, analyzer.counters().flows.open]).toEqual([2, 0]);
  });

  test("ends no more flows at once than it is to", () => {
    const { analyzer, records } = openAnalyzer({ flows: { udpIdleSeconds: 60 }, endedAtOnce: 2 });
    for (let port = 1; port <= 5; port += 1) frameAt(analyzer, udpFrame({ from: CLIENT, to: SERVER }, [port, 53], "x"), 0);
    const counts = Array.from({ length: 4 }, () => [analyzer.tick(START + 100e6), records.length]);
    expect(counts).toEqual([[false, 2], [false, 4], [true, 5], [true, 5]]);
    for (let port = 1; port <= 5; port += 1) frameAt(analyzer, udpFrame({ from: CLIENT, to: SERVER }, [port, 53], "x"), 100);
    expect([analyzer.flush(3), records.length, analyzer.flush(), records.length]).toEqual([false, 8, true, 10]);
  });

  test("keeps a connection that carries bytes for longer than one that is not answered, though one side of it is seen", () => {
    const { analyzer, records } = openAnalyzer({ flows: { openingSeconds: 60, tcpIdleSeconds: 300 } });
    frameAt(analyzer, tcpFrame({ from: CLIENT, to: SERVER }, [1, 80], { flags: "S", seq: 1 }), 0);
    frameAt(analyzer, tcpFrame({ from: CLIENT, to: SERVER }, [2, 80], { flags: "PA", seq: 1, ack: 1, data: "x" }), 0);
    analyzer.tick(START + 61e6);
    expect(records.map(({ originator_port: port }) => port)).toEqual([1]);
    analyzer.tick(START + 301e6);
    expect(records.map(({ originator_port: port }) => port)).toEqual([1, 2]);
  });

  test("that goes on for long is recorded in parts, which add up", () => {
    const { analyzer, records } = openAnalyzer({ flows: { activeSeconds: 100 } });
    for (let second = 0; second < 250; second += 10) frameAt(analyzer, second % 20 === 0 ? QUERY : REPLY, second);
    analyzer.flush();
    expect(records.map(({ id, part, ended_by: endedBy }) => [id, part, endedBy])).toEqual([
      ["9000001", 0, "active"], ["9000001", 1, "active"], ["9000001", 2, "end"],
    ]);
    expect(records.reduce((sum, { originator_packets: sent, responder_packets: got }) => sum + sent + got, 0)).toBe(25);
    expect(records.reduce((sum, { originator_bytes: sent, responder_bytes: got }) => sum + sent + got, 0)).toBe(13 * 4 + 12 * 6);
  });

  test("that jumps back does not end each flow at once", () => {
    const { analyzer, records } = openAnalyzer();
    frameAt(analyzer, QUERY, 1_000_000);
    for (let second = 0; second < 30; second += 1) frameAt(analyzer, REPLY, second);
    expect(records).toEqual([]);
  });
});

describe("the table is bounded", () => {
  const syn = (number: number) => tcpFrame({ from: `10.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`, to: SERVER }, [1024 + (number % 60_000), 80], { flags: "S", seq: number });

  test("and the flow that was seen least recently goes first, counted", () => {
    const { analyzer, records } = openAnalyzer({ flows: { maxFlows: 3 } });
    for (const [index, number] of [1, 2, 3, 1, 4, 5].entries()) {
      const frame = syn(number);
      analyzer.frame(frame, frame.length, START + index);
    }
    expect(records.map((record) => [record.originator_ip, record.ended_by])).toEqual([["10.0.0.2", "evicted"], ["10.0.0.3", "evicted"]]);
    expect(analyzer.counters().flows).toEqual({ opened: 5, open: 3, evicted: 2, records: 2 });
  });

  test("in memory too, under a million SYNs of as many hosts", () => {
    const { analyzer } = openAnalyzer({ onFlow: () => undefined, flows: { maxFlows: 8192 } });
    const frame = syn(1);
    const view = new DataView(frame.buffer, frame.byteOffset);
    const flood = (from: number, to: number) => {
      for (let number = from; number < to; number += 1) {
        // The source address, whose checksum nobody looks at.
        view.setUint32(26, Math.imul(number, 2_654_435_761));
        analyzer.frame(frame, frame.length, START + number);
      }
    };
    flood(0, 200_000);
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    flood(200_000, 1_000_000);
    globalThis.gc?.();
    const grown = process.memoryUsage().heapUsed - before;
    expect(analyzer.counters().flows).toMatchObject({ opened: 1_000_000, open: 8192, evicted: 991_808 });
    // Without a collection in between, what a quarter of the flood leaves behind would be more.
    expect(grown).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("tunnels", () => {
  const inner = udpFrame({ from: "10.0.0.1", to: "10.0.0.9", vlanIds: [5] }, [50_000, 53], "who?");
  const vxlan = (network: number) => Uint8Array.of(8, 0, 0, 0, 0, 0, network, 0, ...inner);
  const outer = (network: number) => packetFrame({ from: CLIENT, to: SERVER }, IP_PROTOCOL.udp, encodeUdp(
    { sourcePort: 49_152, destinationPort: 4789, payload: vxlan(network) }, { source: ip(CLIENT), destination: ip(SERVER) },
  ));

  test("have a flow of their own, and those inside name it", () => {
    const records = recordsOf([outer(42), outer(42)]);
    expect(records).toEqual(expect.arrayContaining([
      expect.objectContaining({ id: "9000001", responder_port: 4789, originator_packets: 2, encapsulations: [], tunnel_parents: [] }),
      expect.objectContaining({
        id: "9000002", originator_ip: "10.0.0.1", originator_packets: 2, encapsulations: ["vxlan"], tunnel_parents: ["9000001"], vlan_id: 5, network_id: 42,
      }),
    ]));
    expect(records).toHaveLength(2);
  });

  test("of two networks keep the same addresses apart", () => {
    expect(recordsOf([outer(42), outer(43)]).map((flow) => String(flow.network_id)).toSorted()).toEqual(["42", "43", "null"]);
  });

  test("that cannot be read are counted by kind, and their carrier is a flow", () => {
    const { analyzer, records } = openAnalyzer();
    const frame = packetFrame({ from: CLIENT, to: SERVER }, IP_PROTOCOL.gre, Uint8Array.of(0, 3, 8, 0, 0, 0, 0, 0));
    analyzer.frame(frame, frame.length, START);
    analyzer.flush();
    expect(analyzer.counters().notUnderstood).toEqual({ "gre-version-3": 1 });
    expect(records).toEqual([expect.objectContaining({ protocol: "gre", encapsulations: [] })]);
  });
});

test("what is no IP, or is not understood, is counted by kind", () => {
  const { analyzer } = openAnalyzer();
  const etherType = (type: number) => Uint8Array.of(...new Uint8Array(12), type >>> 8, type & 255, ...new Uint8Array(46));
  const cut = tcpFrame({ from: CLIENT, to: SERVER }, [1, 2], { flags: "S", seq: 1 });
  analyzer.frame(etherType(0x88cc), 60, START);
  analyzer.frame(etherType(0x1234), 60, START);
  analyzer.frame(etherType(0x1234), 60, START);
  analyzer.frame(etherType(0x0800), 60, START);
  analyzer.frame(new Uint8Array(5), 5, START);
  analyzer.frame(cut.subarray(0, 40), cut.length, START);
  analyzer.frame(cut, cut.length, START, 105);
  expect(analyzer.counters()).toMatchObject({
    frames: 7, notIp: { "ethertype-88cc": 1 },
    notUnderstood: { "ethertype-1234": 2, "malformed-ipv4": 1, "malformed-ethernet": 1, cut: 1, "link-type-105": 1 },
  });
});
