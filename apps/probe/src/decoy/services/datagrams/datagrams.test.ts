import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createHash } from "node:crypto";
import { encodeInteger, encodeObjectIdentifier, encodeTlv } from "@lanthorn/packets";
import { seededRandom } from "@lanthorn/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectTo } from "../../testing/converse.ts";
import { openForTest, type OpenedDecoys } from "../../testing/opened.ts";
import { DATAGRAM_SERVICE_NAMES } from "../names.ts";

let decoys: OpenedDecoys;
beforeAll(async () => {
  decoys = await openForTest(["ftp", ...DATAGRAM_SERVICE_NAMES]);
  decoys.listen();
});
afterAll(() => decoys.close());
const lastOf = (source: string) => decoys.hits.findLast(({ source_ip: ip }) => ip === source);

async function openClient(from: string): Promise<{ readonly socket: Socket; readonly answers: Buffer[]; readonly ports: number[]; say(service: string | number, bytes: Uint8Array): void }> {
  const socket = createSocket("udp4");
  const [answers, ports]: [Buffer[], number[]] = [[], []];
  socket.on("message", (bytes, { port }) => {
    answers.push(bytes);
    ports.push(port);
  });
  socket.bind({ address: from, port: 0 });
  await once(socket, "listening");
  return { socket, answers, ports, say: (service, bytes) => socket.send(bytes, typeof service === "number" ? service : decoys.portOf(service), "127.0.0.1") };
}

const ntpQuestion = (first: number) => {
  const bytes = Buffer.alloc(48);
  bytes[0] = first;
  bytes.writeUInt32BE(0xdead_beef, 40);
  return bytes;
};
/** Version 2c. @param second Repetitions of GETBULK. */
const snmpQuestion = (tag: number, name: string, community = "public", second = 0) => encodeTlv(0x30, Buffer.concat([
  encodeInteger(1), encodeTlv(4, Buffer.from(community)),
  encodeTlv(tag, Buffer.concat([encodeInteger(0x0102_0304), encodeInteger(0), encodeInteger(second), encodeTlv(0x30, encodeTlv(0x30, Buffer.concat([encodeObjectIdentifier(name), Buffer.from([5, 0])])))])),
]));
const [GET, BULK] = [0xa0, snmpQuestion(0xa5, "1.3.6", "public", 100)];
const register = (more = "") => Buffer.from([
  "REGISTER sip:192.0.2.9 SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.66:5062;branch=z9hG4bK1;rport", "From: <sip:100@192.0.2.9>;tag=a1", "To: <sip:100@192.0.2.9>", "Call-ID: abc@192.0.2.66", "CSeq: 1 REGISTER",
  "Contact: <sip:100@192.0.2.66:5062>", "Max-Forwards: 70", "User-Agent: friendly-scanner", "Expires: 3600", ...(more === "" ? [] : [more]), "Content-Length: 0", "", "",
].join("\r\n"));

test("the time is answered in as many octets as were sent; queries that reflect are reported and not answered", async () => {
  const { socket, answers, say } = await openClient("127.0.5.1");
  say("ntp", ntpQuestion(0x23));
  await expect.poll(() => answers.length).toBe(1);
  const [answer = Buffer.alloc(0)] = answers;
  expect([answer.length, answer[0], answer[1], answer.readUInt32BE(24)]).toEqual([48, 0x24, 3, 0xdead_beef]);
  expect(Math.abs(answer.readUInt32BE(40) - 2_208_988_800 - Date.now() / 1000)).toBeLessThan(2);
  const monlist = Buffer.alloc(192);
  monlist.set([0x17, 0, 3, 42]);
  say("ntp", monlist);
  await expect.poll(() => lastOf("127.0.5.1")).toMatchObject({ service: "ntp", stage: "command", detail: "private query monlist", techniques: ["T1046", "T1498.002"] });
  say("ntp", Buffer.from([0x16, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]));
  await expect.poll(() => lastOf("127.0.5.1")?.services).toEqual(["ntp"]);
  say("ntp", ntpQuestion(0x23));
  await expect.poll(() => answers.length).toBe(2);
  socket.close();
});

test("a bulk request to an unproven source is answered in no more octets than it had, and to a proven one in more", async () => {
  const { socket, answers, say } = await openClient("127.0.5.2");
  say("snmp", BULK);
  await expect.poll(() => answers.length).toBe(1);
  expect(answers[0]?.length).toBeLessThanOrEqual(BULK.length);
  await expect.poll(() => lastOf("127.0.5.2")).toMatchObject({ service: "snmp", stage: "command", detail: "walked from 1.3.6" });
  (await connectTo(decoys.portOf("ftp"), "127.0.5.2")).destroy();
  await expect.poll(() => lastOf("127.0.5.2")?.services).toEqual(["snmp"]);
  say("snmp", BULK);
  await expect.poll(() => answers.length).toBe(2);
  expect(answers[1]?.length).toBeGreaterThan(200);
  socket.close();
});

test("a flood from one source is answered a few times, and in all with no more than it sent and a kilobyte", async () => {
  const { socket, answers, say } = await openClient("127.0.5.3");
  const get = snmpQuestion(GET, "1.3.6.1.2.1.1.1.0");
  let asked = 0;
  for (let left = 500; left > 0; left -= 1) {
    say("snmp", get);
    asked += get.length;
  }
  say("ntp", ntpQuestion(0x23));
  await expect.poll(() => lastOf("127.0.5.3")?.stage).toBe("credential");
  await expect.poll(() => decoys.tried.filter(({ service }) => service === "snmp").length).toBeGreaterThan(0);
  expect(answers.length).toBeLessThanOrEqual(30);
  expect(answers.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(asked + 1024);
  socket.close();
});

test("communities are credentials: only public and bait are answered", async () => {
  const { socket, answers, say } = await openClient("127.0.5.4");
  const get = (community: string) => snmpQuestion(GET, "1.3.6.1.2.1.1.5.0", community);
  say("snmp", get("private"));
  await expect.poll(() => decoys.tried.map(({ password }) => password)).toContain("private");
  expect(answers.length).toBe(0);
  say("snmp", get("public"));
  await expect.poll(() => answers.length).toBe(1);
  expect(answers[0]?.toString("latin1")).toContain("files2");
  socket.close();
});

test("SIP: a password is asked for, and a proof of bait is bait; no answer is much longer than what asked", async () => {
  const { socket, answers, say } = await openClient("127.0.5.5");
  say("sip", register());
  await expect.poll(() => answers.length).toBe(1);
  expect(answers[0]?.length).toBeLessThanOrEqual(register().length);
  const nonce = /nonce="([^"]+)"/.exec(answers[0]?.toString() ?? "")?.[1] ?? "";
  const md5 = (text: string) => createHash("md5").update(text).digest("hex");
  const proof = md5(`${md5("backup:asterisk:Blue-Heron-4")}:${nonce}:${md5("REGISTER:sip:192.0.2.9")}`);
  say("sip", register(`Authorization: Digest username="backup", realm="asterisk", nonce="${nonce}", uri="sip:192.0.2.9", response="${proof}", algorithm=MD5`));
  await expect.poll(() => answers[1]?.toString()).toMatch(/^SIP\/2\.0 403 Forbidden\r\nVia: SIP\/2\.0\/UDP 192\.0\.2\.66:5062;branch=z9hG4bK1;received=127\.0\.5\.5;rport=\d+/);
  await expect.poll(() => lastOf("127.0.5.5")).toMatchObject({ service: "sip", stage: "bait_credential", username: "backup" });
  socket.close();
});

test("TFTP: what is written is kept by its hash; what is too long ends with an error", async () => {
  const { socket, answers, ports, say } = await openClient("127.0.5.6");
  say("tftp", Buffer.from("\0\u0002evil.bin\0octet\0", "latin1"));
  await expect.poll(() => answers[0]?.toString("hex")).toBe("00040000");
  const from = ports[0] ?? 0;
  expect(from).not.toBe(decoys.portOf("tftp"));
  const data = (block: number, bytes: Buffer) => Buffer.concat([Buffer.from([0, 3, block >> 8, block & 0xff]), bytes]);
  say(from, data(1, Buffer.alloc(512, "a")));
  await expect.poll(() => answers[1]?.toString("hex")).toBe("00040001");
  say(from, data(2, Buffer.from("end")));
  await expect.poll(() => lastOf("127.0.5.6")).toMatchObject({ stage: "file", detail: expect.stringMatching(/^evil\.bin: 515 bytes, SHA-256 [0-9a-f]{64}$/) as string });
  say("tftp", Buffer.from("\0\u0002long\0octet\0", "latin1"));
  await expect.poll(() => answers.length).toBe(4);
  const second = ports[3] ?? 0;
  for (let block = 1; block <= 2049; block += 1) {
    const before = answers.length;
    say(second, data(block, Buffer.alloc(512)));
    await once(socket, "message");
    expect(answers.length).toBe(before + 1);
  }
  expect(answers.at(-1)?.subarray(0, 4)).toEqual(Buffer.from([0, 5, 0, 3]));
  socket.close();
});

test("TFTP: a flood of questions is answered a few times, whatever port the answers come from", async () => {
  const [flood, other] = [await openClient("127.0.5.8"), await openClient("127.0.5.9")];
  const read = Buffer.from("\0\u0001x\0octet\0", "latin1");
  for (let left = 299; left > 0; left -= 1) flood.say("tftp", read);
  await new Promise<void>((resolve) => {
    flood.socket.send(read, decoys.portOf("tftp"), "127.0.0.1", () => resolve());
  });
  other.say("tftp", read);
  await expect.poll(() => other.answers.length).toBe(1);
  expect(flood.answers.length).toBeLessThanOrEqual(30);
  flood.socket.close();
  other.socket.close();
});

test("datagrams without sense are touches, and harm nothing", async () => {
  const { socket, say } = await openClient("127.0.5.7");
  const random = seededRandom(19);
  for (const service of DATAGRAM_SERVICE_NAMES) for (let round = 0; round < 100; round += 1) say(service, Buffer.from(Array.from({ length: random(200) }, () => random(256))));
  await expect.poll(() => lastOf("127.0.5.7")?.services.length ?? 0).toBeGreaterThan(0);
  expect(decoys.counts.failures).toBe(0);
  socket.close();
});
