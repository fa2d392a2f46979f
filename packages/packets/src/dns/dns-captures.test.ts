import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readCapture } from "../capture-file/capture-file.ts";
import type { Decoded } from "../decoded.ts";
import { decodeDhcp } from "../dhcp/dhcp.ts";
import { decodeDns } from "./dns.ts";
import { decodeFrame } from "../frame.ts";

/** Other people's captures, hostile ones among them; they lie beside the repository and are no part of it. */
const FOLDER = fileURLToPath(new URL("../../../../../shared/data/captures/tcpdump/", import.meta.url));

const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => /\.(pcap|pcapng)$/.test(name)).toSorted() : [];
if (files.length === 0) console.warn(`skipped: DNS and DHCP of real captures, as there are none in ${FOLDER}`);

/** Those that this copy of the folder has. */
const present = (...names: readonly string[]) => names.filter((name) => files.includes(name));

const DECODERS: Readonly<Record<number, (bytes: Uint8Array) => Decoded<unknown>>> = {
  53: decodeDns, 5353: decodeDns, 67: decodeDhcp, 68: decodeDhcp,
};

/** What the decoders of each datagram's ports say. */
function decodeDatagrams(name: string): readonly Decoded<unknown>[] {
  return readCapture(readFileSync(FOLDER + name)).records.flatMap(({ bytes, originalLength }) => {
    const frame = decodeFrame(bytes, { wireLength: originalLength });
    if (!frame.ok || frame.value.transport !== "udp") return [];
    const { sourcePort, destinationPort, payload } = frame.value;
    const decode = DECODERS[sourcePort] ?? DECODERS[destinationPort];
    return decode ? [decode(payload)] : [];
  });
}

describe.skipIf(files.length === 0)("DNS and DHCP of real captures", () => {
  test("every datagram ends in a result", () => {
    const results = files.flatMap(decodeDatagrams);
    expect(results.length).toBeGreaterThan(0);
    expect(results.every((result) => result.ok || ["dns", "dhcp"].includes(result.layer))).toBe(true);
  });

  test.each(present("dns-badlabel.pcap", "dns_fwdptr.pcap", "dns-zlip-1.pcap", "dns-zlip-2.pcap", "dns-zlip-3.pcap"))(
    "%s, made to send a decoder round in circles, is malformed",
    (name) => {
      expect(decodeDatagrams(name)).toMatchObject([{ ok: false, layer: "dns" }]);
    },
  );

  test.each(present("dns_udp.pcap", "dnssec.pcap", "edns-opts.pcap", "dhcp-mud.pcap", "dhcp-rfc3004.pcap"))(
    "%s is decoded to its last datagram",
    (name) => {
      const results = decodeDatagrams(name);
      expect(results.length).toBeGreaterThan(0);
      for (const result of results) expect(result).toMatchObject({ ok: true });
    },
  );
});
