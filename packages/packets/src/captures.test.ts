import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { decodeArp } from "./link/arp.ts";
import { readCapture } from "./capture-file/capture-file.ts";
import type { CaptureRecord } from "./capture-file/capture-file-framing.ts";
import type { Decoded } from "./decoded.ts";
import { decodeFrame, type Frame } from "./frame.ts";
import { decodeIcmpv4 } from "./ip/icmpv4.ts";
import { decodeIcmpv6 } from "./ip/icmpv6.ts";
import { decodeIpv4 } from "./ip/ipv4.ts";
import { decodeIpv6 } from "./ip/ipv6.ts";
import { decodeLlc } from "./link/llc.ts";
import { isLinkType } from "./numbers.ts";
import { decodeTcp } from "./transport/tcp.ts";
import { decodeUdp } from "./transport/udp.ts";

/** Other people's captures, hostile ones among them; they lie beside the repository and are no part of it. */
const FOLDER = fileURLToPath(new URL("../../../../shared/data/captures/", import.meta.url));

const files = existsSync(FOLDER)
  ? readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(pcap|pcapng)$/.test(name))
      .toSorted()
  : [];
if (files.length === 0) console.warn(`skipped: decoding of real captures, as there are none in ${FOLDER}`);

/** Captures made to break decoders, each with where it must be found out. */
const HOSTILE: Readonly<Record<string, string>> = {
  "tcpdump/arp-oobr.pcap": "arp",
  "tcpdump/ipv6hdr-heapoverflow.pcap": "ipv6-extension",
  "tcpdump/icmpv6-length-zero.pcapng": "icmpv6",
};

/** Captures of ordinary traffic, with how many frames they have and what those are. */
const ORDINARY: Readonly<Record<string, readonly [frames: number, network: string, transport: string]>> = {
  "tcpdump/802.1ad_QinQ.pcap": [2, "arp", "none"],
  "tcpdump/802.1w_rapid_STP.pcap": [30, "llc", "none"],
  "tcpdump/HSRP_coup.pcap": [51, "ipv4", "udp"],
  "tcpdump/dhcpv6-ia-na.pcap": [4, "ipv6", "udp"],
  "tcpdump/icmp6-rfc8335.pcap": [6, "ipv6", "icmpv6"],
  "tcpdump/ssh.pcap": [54, "ipv4", "tcp"],
};

const read = (name: string): readonly CaptureRecord[] => readCapture(readFileSync(FOLDER + name)).records;

function decodeRecord(record: CaptureRecord): Decoded<Frame> | null {
  return isLinkType(record.linkType) ? decodeFrame(record.bytes, { linkType: record.linkType, wireLength: record.originalLength }) : null;
}

/** Everything that has a decoder of its own. */
function decodeInside(frame: Frame): readonly Decoded<unknown>[] {
  const { network, transport, networkBytes, transportBytes } = frame;
  const results: Decoded<unknown>[] = [];
  if (network === "arp") results.push(decodeArp(networkBytes));
  if (network === "llc") results.push(decodeLlc(networkBytes));
  if (network === "ipv4") results.push(decodeIpv4(networkBytes));
  if (network === "ipv6") results.push(decodeIpv6(networkBytes));
  if (transport === "udp") results.push(decodeUdp(transportBytes));
  if (transport === "tcp") results.push(decodeTcp(transportBytes));
  if (transport === "icmpv4") results.push(decodeIcmpv4(transportBytes));
  if (transport === "icmpv6") results.push(decodeIcmpv6(transportBytes));
  return results;
}

/** Those that this copy of the folder has. */
const present = (table: Readonly<Record<string, unknown>>) => Object.keys(table).filter((name) => files.includes(name));

describe.skipIf(files.length === 0)("real captures", () => {
  test("every frame ends in a result, and so does everything inside", () => {
    let frames = 0;
    for (const name of files) {
      for (const record of read(name)) {
        const result = decodeRecord(record);
        if (!result) continue;
        frames += 1;
        const inside = result.ok ? decodeInside(result.value) : [];
        for (const one of [result, ...inside]) expect(one.ok || one.layer.length > 0, name).toBe(true);
      }
    }
    expect(frames).toBeGreaterThan(0);
  });

  test("hostile ones are malformed where they were tampered with", () => {
    for (const name of present(HOSTILE)) {
      const layers = read(name).map((record) => {
        const result = decodeRecord(record);
        return result?.ok === false ? result.layer : null;
      });
      expect(layers, name).toContain(HOSTILE[name]);
    }
  });

  test("ordinary ones are decoded to the last frame", () => {
    for (const name of present(ORDINARY)) {
      const [count, network, transport] = ORDINARY[name] ?? [0, "", ""];
      const results = read(name).map(decodeRecord);
      expect(results, name).toHaveLength(count);
      for (const result of results) {
        expect(result, name).toMatchObject({ ok: true, value: { network, transport } });
        for (const inside of result?.ok ? decodeInside(result.value) : []) expect(inside, name).toMatchObject({ ok: true });
      }
    }
  });
});
