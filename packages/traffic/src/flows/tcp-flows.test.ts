import { describe, expect, test } from "vitest";
import { openAnalyzer, recordsOf, START, tcpFrame } from "../testing/frames.ts";

const [CLIENT, SERVER] = ["192.0.2.1", "192.0.2.9"];
const PORTS = [40_000, 443] as const;
type Segment = Parameters<typeof tcpFrame>[2];

const up = (segment: Segment) => tcpFrame({ from: CLIENT, to: SERVER }, PORTS, segment);
const down = (segment: Segment) => tcpFrame({ from: SERVER, to: CLIENT }, [PORTS[1], PORTS[0]], segment);

const OPEN = [up({ flags: "S", seq: 100 }), down({ flags: "SA", seq: 500, ack: 101 }), up({ flags: "A", seq: 101, ack: 501 })];
const ASK = up({ flags: "PA", seq: 101, ack: 501, data: "hello" });
const ANSWER = down({ flags: "PA", seq: 501, ack: 106, data: "0123456789" });
const CLOSE = [
  up({ flags: "FA", seq: 106, ack: 511 }), down({ flags: "FA", seq: 511, ack: 107 }), up({ flags: "A", seq: 107, ack: 512 }),
];

test("a connection from SYN to FIN is one record with the fields of Zeek's", () => {
  expect(recordsOf([...OPEN, ASK, ANSWER, ...CLOSE])).toEqual([{
    id: "9000001", part: 0, started_at: "2023-11-14T22:13:20.000000Z", duration: 0.007, protocol: "tcp", originator_ip: CLIENT, originator_port: 40_000,
    responder_ip: SERVER, responder_port: 443, icmp_id: null, service: null, state: "SF", history: "ShADdFf", originator_bytes: 5, responder_bytes: 10,
    missed_bytes: 0, originator_packets: 5, responder_packets: 3, originator_ip_bytes: 205, responder_ip_bytes: 130, originator_wire_bytes: 300,
    responder_wire_bytes: 184, originator_fragment_frames: 0, responder_fragment_frames: 0, originator_fragment_bytes: 0, responder_fragment_bytes: 0,
    originator_mac: "02:00:00:00:00:0c", responder_mac: "02:00:00:00:00:05", vlan_id: null, inner_vlan_id: null, network_id: null, encapsulations: [],
    tunnel_parents: [], is_midstream: false, is_one_sided: false, ended_by: "closed",
  }]);
});

describe("the state and the history say how it went", () => {
  const RESET_UP = up({ flags: "R", seq: 106 });
  const RESET_DOWN = down({ flags: "RA", seq: 511, ack: 106 });
  const SYN = up({ flags: "S", seq: 100 });
  const SYN_ACK = down({ flags: "SA", seq: 500, ack: 101 });
  test.each([
    ["S0", "S", [SYN, SYN]],
    ["REJ", "Sr", [SYN, down({ flags: "RA", seq: 0, ack: 101 })]],
    ["S1", "ShADd", [...OPEN, ASK, ANSWER]],
    ["S2", "ShADF", [...OPEN, ASK, up({ flags: "FA", seq: 106, ack: 501 })]],
    ["S3", "ShADf", [...OPEN, ASK, down({ flags: "FA", seq: 501, ack: 106 })]],
    ["RSTO", "ShADdR", [...OPEN, ASK, ANSWER, RESET_UP]],
    ["RSTR", "ShADdr", [...OPEN, ASK, ANSWER, RESET_DOWN]],
    ["RSTOS0", "SR", [SYN, up({ flags: "R", seq: 101 })]],
    ["RSTRH", "^hr", [SYN_ACK, down({ flags: "R", seq: 501 })]],
    ["SH", "SF", [SYN, up({ flags: "F", seq: 101 })]],
    ["SHR", "^hf", [SYN_ACK, down({ flags: "FA", seq: 501, ack: 101 })]],
    ["OTH", "DAg", [ASK, up({ flags: "A", seq: 106, ack: 511 })]],
    ["SF", "ShAFfR", [...OPEN, up({ flags: "FA", seq: 101, ack: 501 }), down({ flags: "FA", seq: 501, ack: 102 }), up({ flags: "R", seq: 102 })]],
    ["SH", "Q", [up({ flags: "SF", seq: 1 })]],
  ])("%s %s", (state, history, frames) => {
    const [record, ...others] = recordsOf(frames);
    expect([record?.state, record?.history, others]).toEqual([state, history, []]);
  });
});

test("the receiver of a SYN and ACK began, as the sender of the SYN did", () => {
  const [record] = recordsOf(OPEN.slice(1));
  expect(record).toMatchObject({
    originator_ip: CLIENT, responder_port: 443, history: "^hA", state: "S1", is_midstream: false, originator_mac: "02:00:00:00:00:0c",
  });
});

test("the middle of a connection is said to be that, and its server is known by its port", () => {
  expect(recordsOf([ANSWER])).toEqual([expect.objectContaining({
    originator_ip: CLIENT, responder_ip: SERVER, is_midstream: true, is_one_sided: true, history: "^d", responder_bytes: 10, originator_packets: 0, state: "OTH",
  })]);
  expect(recordsOf([ASK, ANSWER])).toEqual([expect.objectContaining({ is_midstream: true, is_one_sided: false, history: "Dd" })]);
});

describe("bytes are counted by sequence numbers", () => {
  test("once, however often they are sent", () => {
    const [record] = recordsOf([...OPEN, ASK, ASK, up({ flags: "PA", seq: 101, ack: 501, data: "hello world" }), ANSWER]);
    expect(record).toMatchObject({ originator_bytes: 11, originator_packets: 5, history: "ShADTd", missed_bytes: 0 });
  });

  test("in any order", () => {
    const late = up({ flags: "PA", seq: 106, ack: 501, data: "late" });
    const [record] = recordsOf([...OPEN, late, ASK, down({ flags: "A", seq: 501, ack: 110 })]);
    expect(record).toMatchObject({ originator_bytes: 9, missed_bytes: 0, history: "ShADa" });
  });

  test("those that are acknowledged but were never seen as missed", () => {
    const ahead = up({ flags: "PA", seq: 1101, ack: 501, data: "end" });
    const [record] = recordsOf([...OPEN, ASK, ahead, down({ flags: "A", seq: 501, ack: 1104 })]);
    expect(record).toMatchObject({ originator_bytes: 1003, missed_bytes: 995, history: "ShADaG" });
    const [silent] = recordsOf([...OPEN, ASK, down({ flags: "A", seq: 501, ack: 2101 })]);
    expect(silent).toMatchObject({ originator_bytes: 2000, missed_bytes: 1995 });
  });

  test("a hole that is filled in its middle is two", () => {
    const [record] = recordsOf([
      ...OPEN, up({ flags: "A", seq: 141, ack: 501, data: "x".repeat(10) }), up({ flags: "A", seq: 111, ack: 501, data: "x".repeat(10) }),
      down({ flags: "A", seq: 501, ack: 151 }),
    ]);
    expect(record).toMatchObject({ originator_bytes: 50, missed_bytes: 30 });
  });

  test("a one-sided flow's holes are missed, though nobody acknowledges", () => {
    const [record] = recordsOf([up({ flags: "S", seq: 100 }), ASK, up({ flags: "A", seq: 206, ack: 501, data: "end" })]);
    expect(record).toMatchObject({ originator_bytes: 108, missed_bytes: 100, is_one_sided: true });
  });

  test("beyond the end of their range", () => {
    const [record] = recordsOf([
      up({ flags: "S", seq: 0xffff_fffd }), down({ flags: "SA", seq: 0x7fff_ffff, ack: 0xffff_fffe }), up({ flags: "A", seq: 0xffff_fffe, ack: 0x8000_0000, data: "hello" }),
      down({ flags: "A", seq: 0x8000_0000, ack: 3, data: "hi" }), up({ flags: "A", seq: 3, ack: 0x8000_0002, data: "again" }),
    ]);
    expect(record).toMatchObject({ originator_bytes: 10, responder_bytes: 2, missed_bytes: 0 });
  });

  test("a segment that is farther away than any window counts for nothing", () => {
    const [record] = recordsOf([...OPEN, ASK, up({ flags: "A", seq: 0x6000_0000, ack: 501, data: "stray" })]);
    expect(record).toMatchObject({ originator_bytes: 5, originator_packets: 4 });
  });

  test("up to the length on the wire, where the snap length has cut the frame", () => {
    const { analyzer, records } = openAnalyzer();
    for (const frame of [...OPEN, up({ flags: "A", seq: 101, ack: 501, data: "x".repeat(1000) })]) analyzer.frame(frame.subarray(0, 60), frame.length, START);
    analyzer.flush();
    expect(records).toEqual([expect.objectContaining({ originator_bytes: 1000, missed_bytes: 0, originator_ip_bytes: 1120 })]);
  });
});

test("a window of zero is a letter", () => {
  expect(recordsOf([...OPEN, ASK, down({ flags: "A", seq: 501, ack: 106, window: 0 })])[0]?.history).toBe("ShADaw");
});

test("the same ports again are another connection", () => {
  const again = [up({ flags: "S", seq: 90_000 }), down({ flags: "SA", seq: 70_000, ack: 90_001 }), up({ flags: "A", seq: 90_001, ack: 70_001 })];
  const records = recordsOf([...OPEN, ASK, ...CLOSE, ...again]);
  expect(records.map(({ id, state, ended_by: endedBy }) => [id, state, endedBy])).toEqual([["9000001", "SF", "reused"], ["9000002", "S1", "end"]]);
  const [repeated] = recordsOf([OPEN[0] as Uint8Array, OPEN[0] as Uint8Array, ...OPEN.slice(1)]);
  expect(repeated).toMatchObject({ state: "S1", originator_packets: 3 });
});
