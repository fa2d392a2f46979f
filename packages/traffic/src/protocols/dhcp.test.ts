import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DHCP_MESSAGE_TYPE, DHCP_OP, dhcpMessageType, encodeDhcp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { runUnpacked, unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { playDatagrams } from "../testing/datagrams.ts";
import { playCapture } from "../testing/play-capture.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of DHCP with tshark");
const capture = (name: string) => fileURLToPath(new URL(`../../../../../shared/data/captures/tcpdump/${name}.pcap`, import.meta.url));

const DISCOVER = encodeDhcp({
  op: DHCP_OP.bootRequest, xid: 7, chaddr: Uint8Array.of(2, 0, 0, 0, 0, 5), options: new Map([[53, Uint8Array.of(DHCP_MESSAGE_TYPE.discover)]]),
});

test("DHCP is recognized by its cookie, and its options can be read", () => {
  const { messages, service } = playDatagrams([{ side: 0, bytes: DISCOVER }]);
  expect(service).toBe("dhcp");
  const [message] = messages;
  expect(message?.protocol === "dhcp" && message.family === 4 && [message.message.xid, dhcpMessageType(message.message.options)]).toEqual([7, DHCP_MESSAGE_TYPE.discover]);
});

test.skipIf(!existsSync(capture("dhcpv6-ia-na")))("DHCPv6 is recognized by its options, in captures of others as tshark reads them", async () => {
  for (const name of ["dhcpv6-ia-na", "dhcpv6-ia-pd", "dhcpv6-domain-list"]) {
    const ours = playCapture(capture(name)).flatMap(({ messages }) => messages).flatMap((message) => (message.protocol === "dhcp" && message.family === 6 ? [String(message.message.type)] : []));
    expect(ours.length).toBeGreaterThan(0);
    if (!tshark) continue;
    const theirs = await runUnpacked(tshark, "tshark", ["-n", "-r", capture(name), "-T", "fields", "-e", "dhcpv6.msgtype"]);
    expect([name, ours.toSorted()]).toEqual([name, theirs.split(/\s+/).filter((word) => word !== "").toSorted()]);
  }
});

test("DHCP harms nobody, however damaged", () => {
  let said = 0;
  for (const bytes of seededMutations(DISCOVER, 5000, 2)) said += playDatagrams([{ side: 0, bytes }]).messages.length;
  expect(said).toBeGreaterThan(1000);
});

test.skipIf(!existsSync(capture("dhcp-rfc3004")))("captures of others say the same types as tshark reads", async () => {
  if (!tshark) return;
  for (const name of ["dhcp-rfc3004", "dhcp-rfc4388", "dhcp-rfc5859", "dhcp-mud"]) {
    const ours = playCapture(capture(name)).flatMap(({ messages }) => messages).flatMap((message) => (message.protocol === "dhcp" && message.family === 4 ? [String(dhcpMessageType(message.message.options))] : []));
    const theirs = await runUnpacked(tshark, "tshark", ["-n", "-r", capture(name), "-T", "fields", "-e", "dhcp.option.dhcp"]);
    expect([name, ours.toSorted()]).toEqual([name, theirs.split(/\s+/).filter((word) => word !== "").toSorted()]);
  }
});
