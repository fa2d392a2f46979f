import { STREAM_EVENTS } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { kindName, words } from "./words.ts";

test("names of the API are words, with abbreviations as network engineers write them", () => {
  expect(["arp_spoofing", "rogue_dhcpv6", "unexpected_ipv6", "destination_ip"].map(words)).toEqual(["ARP spoofing", "rogue DHCPv6", "unexpected IPv6", "destination IP"]);
});

test("each kind of event and alert has a name of its own without the API's spelling", () => {
  const names = STREAM_EVENTS.map(kindName);
  expect(new Set(names).size).toBe(STREAM_EVENTS.length);
  expect(names.filter((name) => name.includes("_"))).toEqual([]);
  expect(["pcap_ready", "probe_silent", "ids_alert", "honeypot_hit", "constructor"].map(kindName)).toEqual(["capture ready", "probe silent", "intrusion detected", "honeypot hit", "constructor"]);
});
