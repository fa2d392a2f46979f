import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { runUnpacked, unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { play, type Turn, turn } from "../testing/conversation.ts";
import { expectHarmless, expectSameHoweverCut } from "../testing/expect-conversation.ts";
import { playCapture } from "../testing/play-capture.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of SSH with tshark");
const CAPTURE = fileURLToPath(new URL("../../../../../shared/data/captures/tcpdump/ssh.pcap", import.meta.url));

/** What OpenSSH 9.2 names, in its order; the cookie is made up. */
const CLIENT_LISTS = [
  "sntrup761x25519-sha512@openssh.com,curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ext-info-c",
  "ssh-ed25519-cert-v01@openssh.com,ssh-ed25519,rsa-sha2-512",
  "chacha20-poly1305@openssh.com,aes128-ctr", "chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr",
  "umac-64-etm@openssh.com,hmac-sha2-256", "umac-64-etm@openssh.com,hmac-sha2-512", "none,zlib@openssh.com,zlib", "none,zlib@openssh.com", "", "",
];
const SERVER_LISTS = ["curve25519-sha256,kex-strict-s-v00@openssh.com", ...CLIENT_LISTS.slice(1)];

function kexinit(lists: readonly string[]): Uint8Array {
  const payload = Buffer.concat([Buffer.from([20]), Buffer.alloc(16, 7), ...lists.map((list) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(list.length);
    return Buffer.concat([head, Buffer.from(list)]);
  }), Buffer.alloc(5)]);
  const padding = 16 - ((payload.length + 5) % 8);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head[4] = padding;
  return new Uint8Array(Buffer.concat([head, payload, Buffer.alloc(padding)]));
}

const CONVERSATION: readonly Turn[] = [
  turn(1, "Welcome to this host\r\nBehave\r\n"),
  turn(1, "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10\r\n"),
  turn(0, "SSH-2.0-libssh2_1.11.0\r\n"),
  turn(0, kexinit(CLIENT_LISTS)),
  turn(1, kexinit(SERVER_LISTS)),
  turn(0, new Uint8Array(400).fill(9)),
];

const AFTER_GREETING = CONVERSATION.slice(1);

describe("a conversation of SSH", () => {
  test("says banners, algorithms and HASSH, as tshark does", async () => {
    const { messages, service, isDone } = play(AFTER_GREETING);
    expect([service, isDone]).toEqual(["ssh", true]);
    expect(messages).toMatchObject([
      { kind: "banner", side: 1, protocolVersion: "2.0", software: "OpenSSH_9.2p1", comments: "Debian-2+deb12u10", text: "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10" },
      { kind: "banner", side: 0, software: "libssh2_1.11.0", comments: "" },
      { kind: "key-exchange", side: 0, role: "client", hostKeyAlgorithms: ["ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519", "rsa-sha2-512"] },
      { kind: "key-exchange", side: 1, role: "server", kexAlgorithms: ["curve25519-sha256", "kex-strict-s-v00@openssh.com"] },
    ]);
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, AFTER_GREETING, ["ssh.kex.hassh", "ssh.kex.hasshserver", "ssh.protocol"], { port: 22, as: "ssh" });
    const exchanges = messages.flatMap((message) => (message.protocol === "ssh" && message.kind === "key-exchange" ? [message.hassh] : []));
    expect([...valuesOfField(theirs, "ssh.kex.hassh"), ...valuesOfField(theirs, "ssh.kex.hasshserver")]).toEqual(exchanges);
    expect(valuesOfField(theirs, "ssh.protocol")).toEqual(messages.slice(0, 2).map((message) => message.protocol === "ssh" && message.kind === "banner" && message.text));
  });

  test("is the same however it is cut, and harmless when damaged", () => {
    expectSameHoweverCut(AFTER_GREETING);
    expectHarmless(AFTER_GREETING, seededMutations);
  });

  test("gives a server up that greets without end", () => {
    const { counters, peakBytes } = play([turn(0, "SSH-2.0-x\r\n"), ...Array.from({ length: 500 }, () => turn(1, "blah ".repeat(20) + "\r\n"))]);
    expect(counters).toMatchObject({ heldBytes: 0, messages: 1 });
    expect(peakBytes).toBeLessThan(40_000);
  });
});

test.skipIf(!existsSync(CAPTURE))("the capture of a real session is read as tshark reads it", async () => {
  const messages = playCapture(CAPTURE).flatMap((flow) => flow.messages);
  const banners = messages.flatMap((message) => (message.protocol === "ssh" && message.kind === "banner" ? [message.text] : []));
  expect(banners.length).toBeGreaterThan(1);
  if (!tshark) return;
  const theirs = await runUnpacked(tshark, "tshark", ["-n", "-r", CAPTURE, "-Y", "ssh.protocol || ssh.kex.hassh || ssh.kex.hasshserver", "-T", "fields", "-e", "ssh.protocol", "-e", "ssh.kex.hassh", "-e", "ssh.kex.hasshserver"]);
  const words = theirs.split(/[\n\t]/).filter((word) => word !== "");
  const ours = messages.flatMap((message) => (message.protocol !== "ssh" ? [] : message.kind === "banner" ? [message.text] : [message.hassh]));
  expect(ours.toSorted()).toEqual(words.toSorted());
});
