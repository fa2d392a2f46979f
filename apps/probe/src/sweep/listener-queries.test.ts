import { decodeFrame, decodeIcmpv6, formatIp, type MldQuery } from "@lanthorn/packets";
import { afterEach, describe, expect, test } from "vitest";
import { createLink, type Link } from "../capture/link.ts";
import { encodeListenerQueries } from "../egress/request-frames.ts";
import { createFakeLan, type FakeLan, type FakeLanOptions, SETTINGS } from "../discover/testing/fake-lan.ts";

const INTERVAL_MS = SETTINGS.sweep.intervalSeconds * 1000;
const ADDRESSES = ["192.168.1.2/24", "fe80::1/64"];
const open: FakeLan[] = [];

function lanWith(options: FakeLanOptions = {}): FakeLan {
  const lan = createFakeLan({ addresses: ADDRESSES, ...options });
  open.push(lan);
  lan.start();
  return lan;
}

afterEach(async () => {
  for (const lan of open.splice(0)) await lan.close();
});

/** The queries that left, with their times. */
const queries = (lan: FakeLan) => lan.sent.flatMap(({ at, bytes }) => {
  const frame = decodeFrame(bytes);
  const message = frame.ok && frame.value.icmpType === 130 ? decodeIcmpv6(frame.value.transportBytes) : null;
  return frame.ok && message?.ok && message.value.kind === "mld-query"
    ? [{ at, frame: frame.value, query: message.value satisfies MldQuery }]
    : [];
});

/** A query of another link-local address of the own link. */
function routersQuery(): Uint8Array {
  const router = createLink({ mac: "02:00:00:00:00:99", up: true, addresses: [{ ip: "fe80::99", prefixLength: 64 }] }) as Link;
  return encodeListenerQueries(router)[0] as Uint8Array;
}

describe("multicast listeners", () => {
  test("are asked once in a sweep, as RFC 3810 wants a query to be, when nobody else asked for longer than an election holds", async () => {
    const lan = lanWith();
    await lan.clock.advance(INTERVAL_MS - 1000);
    expect(queries(lan)).toEqual([]);
    await lan.clock.advance(INTERVAL_MS);
    expect(queries(lan)).toHaveLength(1);
    const [{ frame, query } = { frame: null, query: null }] = queries(lan);
    expect([frame?.hopLimit, formatIp(frame?.sourceIp as Uint8Array), formatIp(frame?.destinationIp as Uint8Array)])
      .toEqual([1, "fe80::1", "ff02::1"]);
    expect(query).toEqual({
      kind: "mld-query", maximumResponseDelayMs: 2000, group: new Uint8Array(16),
      version2: { suppressesTimers: false, robustness: 2, queryIntervalSeconds: 125, sources: [] },
    });
    await lan.clock.advance(INTERVAL_MS);
    expect(queries(lan)).toHaveLength(2);
  });

  test("are left to the router that asks them, and asked again when it is gone", async () => {
    const lan = lanWith();
    for (let second = 0; second < 1200; second += 125) {
      lan.deliver(routersQuery());
      await lan.clock.advance(125_000);
    }
    expect(queries(lan)).toEqual([]);
    await lan.clock.advance(INTERVAL_MS + 255_000);
    expect(queries(lan).length).toBeGreaterThan(0);
  });

  test("are not asked gently, nor while an IPv6 address is excluded, nor without a link-local address", async () => {
    const gentle = lanWith({ settings: { ...SETTINGS, sweep: { ...SETTINGS.sweep, packetsPerSecond: 12 } } });
    const excluding = lanWith({ settings: { ...SETTINGS, excluded: ["fd00::7"] } });
    const without = lanWith({ addresses: ["192.168.1.2/24", "fd00::2/64"] });
    for (const lan of [gentle, excluding, without]) {
      await lan.clock.advance(3 * INTERVAL_MS);
      expect(queries(lan)).toEqual([]);
    }
  });
});
