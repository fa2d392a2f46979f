import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { seededMutations } from "../../../../../../packages/packets/src/testing/hostile.ts";
import { createBaitDocuments } from "../../documents/bait-documents.ts";
import type { Persona } from "../../personas/persona.ts";
import { PERSONAS } from "../../personas/table.ts";
import type { Peer, Stage } from "../service.ts";
import { rc4 } from "../windows/rc4.ts";
import { matches } from "./file-commands.ts";
import { encodeId } from "./opens.ts";
import { pack } from "./message.ts";
import { sharesOf } from "./shares.ts";
import { aesCmac } from "./signing.ts";
import { smb2 } from "./smb2.ts";

const derive = (name: string, octets: number) => Buffer.alloc(octets, name.length);

const SHARE = `\\\\files2\\${sharesOf({ persona: PERSONAS.nas, hostname: "files2", derive })[0]?.name ?? ""}`;

/** A client of a decoy that lets guests in, without a network between. */
function connectGuest(persona: Persona = PERSONAS.nas) {
  const sent: Buffer[] = [];
  let isOver = false;
  const stream = new Socket();
  const peer: Pick<Peer, "end" | "now" | "random" | "reached" | "send" | "stream" | "took" | "tried"> = {
    send: (data) => void sent.push(Buffer.from(data as Buffer)), end: () => (isOver = true), stream, reached: () => undefined, took: () => undefined, tried: () => false, random: randomBytes, now: () => new Date(0),
  };
  const stage: Pick<Stage, "derive" | "documents" | "hostname" | "persona" | "startedMs"> = { hostname: "files2", persona, documents: createBaitDocuments(derive), startedMs: 0, derive };
  const read = smb2(peer as Peer, stage as Stage);
  const say = (frame: Buffer): Buffer => {
    sent.length = 0;
    read(frame);
    return Buffer.concat(sent).subarray(4);
  };
  return { say, isOver: () => isOver, stream };
}

/** A request with its frame's header. */
function request(command: number, body: Buffer, { sessionId = 0n, treeId = 0 } = {}): Buffer {
  const head = Buffer.alloc(68);
  head.writeUInt32BE(64 + body.length, 0);
  head.writeUInt32BE(0xfe53_4d42, 4);
  head.writeUInt16LE(64, 8);
  head.writeUInt16LE(command, 16);
  head.writeUInt16LE(1, 18);
  head.writeUInt32LE(treeId, 40);
  head.writeBigUInt64LE(sessionId, 44);
  return Buffer.concat([head, body]);
}

const withToken = (token: Buffer) => Buffer.concat([pack([2, 25], [1, 0], [1, 1], [4, 0], [4, 0], [2, 88], [2, token.length], [8, 0]), token]);
const ntlm = (type: number, octets: number) => {
  const message = Buffer.alloc(octets);
  message.write("NTLMSSP\0", "latin1");
  message.writeUInt32LE(type, 8);
  return message;
};
const named = (body: Buffer, name: string) => Buffer.concat([body, Buffer.from(name, "utf16le")]);
const create = (name: string, { access = 1, disposition = 1 } = {}) => named(pack([2, 57], [1, 0], [1, 0], [4, 2], [8, 0], [8, 0], [4, access], [4, 0], [4, 7], [4, disposition], [4, 0], [2, 120], [2, name.length * 2], [4, 0], [4, 0]), name);
const read = (id: bigint, octets: number, offset = 0) => Buffer.concat([pack([2, 49], [1, 0], [1, 0], [4, octets], [8, offset]), encodeId(id), pack([4, 0], [4, 0], [4, 0], [2, 0], [2, 0], [1, 0])]);
const list = (id: bigint, kind: number, octets = 65_536) => named(Buffer.concat([pack([2, 33], [1, kind], [1, 0], [4, 0]), encodeId(id), pack([2, 96], [2, 2], [4, octets])]), "*");
const info = (id: bigint, type: number, kind: number) => Buffer.concat([pack([2, 41], [1, type], [1, kind], [4, 65_536], [2, 0], [2, 0], [4, 0], [4, 0], [4, 0]), encodeId(id)]);
const statusOf = (answer: Buffer) => answer.readUInt32LE(8);

/** Logs in without a name, and connects to its share. */
function enter() {
  const client = connectGuest();
  client.say(request(0, Buffer.concat([pack([2, 36], [2, 1], [2, 1], [2, 0], [4, 0]), Buffer.alloc(24), pack([2, 0x0210])])));
  const first = client.say(request(1, withToken(ntlm(1, 32))));
  expect(statusOf(first)).toBe(0xc000_0016);
  const sessionId = first.readBigUInt64LE(40);
  const second = client.say(request(1, withToken(ntlm(3, 64)), { sessionId }));
  expect([statusOf(second), second.readUInt16LE(66)]).toEqual([0, 3]);
  const connected = (path: string) => client.say(request(3, named(pack([2, 9], [2, 0], [2, 72], [2, path.length * 2]), path), { sessionId })).readUInt32LE(36);
  const ids = { sessionId, treeId: connected(SHARE), pipes: connected("\\\\files2\\IPC$") };
  return { ...client, ids, ask: (command: number, body: Buffer, tree = ids.treeId) => client.say(request(command, body, { sessionId, treeId: tree })) };
}

test("AES-CMAC and RC4 give the values of their standards", () => {
  const key = Buffer.from("2b7e151628aed2a6abf7158809cf4f3c", "hex");
  expect(aesCmac(key)(Buffer.alloc(0)).toString("hex")).toBe("bb1d6929e95937287fa37d129b756746");
  expect(aesCmac(key)(Buffer.from("6bc1bee22e409f96e93d7e117393172a", "hex")).toString("hex")).toBe("070a16b46b4d4144f79bdd9dd04a287c");
  expect(aesCmac(key)(Buffer.from("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411", "hex")).toString("hex")).toBe("dfa66747de9ae63030ca32611497c827");
  expect(rc4(Buffer.from("Key"), Buffer.from("Plaintext")).toString("hex")).toBe("bbf316e8d940af0ad3");
});

test("patterns fit as on Windows, and a long one of stars takes no time", () => {
  expect([["*", "a.csv"], ["*.csv", "A.CSV"], ["a?.csv", "ab.csv"], ["a<.csv", "abc.csv"], ["b*", "abc"], ["", "a"], ["a", "ab"]].map(([pattern = "", name = ""]) => matches(pattern, name))).toEqual([true, true, true, true, false, false, false]);
  const begun = performance.now();
  expect(matches("*a".repeat(250), "a".repeat(249))).toBe(false);
  expect(performance.now() - begun).toBeLessThan(200);
});

test("a share is listed, read and asked about in every way that is known; requests of one frame go on with each other", () => {
  const { ask, say, ids } = enter();
  const folder = ask(5, create("")).readBigUInt64LE(64 + 72);
  for (const kind of [1, 2, 3, 12, 37, 38]) {
    const id = ask(5, create("")).readBigUInt64LE(64 + 72);
    expect(ask(14, list(id, kind)).toString("utf16le")).toMatch(/accounts-v\d\.csv/);
    expect(statusOf(ask(14, list(id, kind)))).toBe(0x8000_0006);
  }
  const one = ask(14, list(folder, 12, 40));
  expect([statusOf(one), statusOf(ask(14, list(folder, 12, 8)))]).toEqual([0, 0xc000_0004]);
  for (const [type, kind] of [[1, 4], [1, 5], [1, 18], [1, 34], [2, 1], [2, 3], [2, 5], [2, 7]] as const) expect(statusOf(ask(16, info(folder, type, kind)))).toBe(0);
  const [document] = createBaitDocuments(derive);
  const opened = request(5, create(document?.name.toUpperCase() ?? ""), ids).subarray(4);
  const padded = Buffer.concat([opened, Buffer.alloc((8 - opened.length % 8) % 8)]);
  padded.writeUInt32LE(padded.length, 20);
  const last = request(8, read(0xffff_ffff_ffff_ffffn, 65_536)).subarray(4);
  last.writeUInt32LE(0x4, 16);
  const both = say(Buffer.concat([pack([1, 0]), Buffer.from([0, (padded.length + last.length) >>> 8, (padded.length + last.length) & 0xff]), padded, last]));
  const answer = both.subarray(both.readUInt32LE(20));
  expect(answer.subarray(80, 80 + answer.readUInt32LE(68))).toEqual(document?.content);
  expect(statusOf(ask(8, read(folder, 10)))).toBe(0xc000_0010);
});

test("what is open has a bound, and what would change something is refused", () => {
  const { ask } = enter();
  const answers = Array.from({ length: 70 }, () => statusOf(ask(5, create(""))));
  expect([answers.filter((status) => status === 0).length, answers.at(-1)]).toEqual([64, 0xc000_009a]);
  const other = enter();
  const refused = [create("x", { disposition: 2 }), create("accounts", { disposition: 5 }), create("", { access: 0x4000_0000 }), create("", { access: 0x1_0000 })];
  expect(refused.map((body) => statusOf(other.ask(5, body)))).toEqual(refused.map(() => 0xc000_0022));
  expect([statusOf(other.ask(5, create("x"))), statusOf(other.ask(5, create("a\\b"))), statusOf(other.ask(17, Buffer.alloc(32)))]).toEqual([0xc000_0034, 0xc000_003a, 0xc000_0022]);
});

test("nobody gets anything without a session, or in another's", () => {
  const { say } = connectGuest();
  for (const command of [2, 3, 5, 8, 14, 16]) expect(statusOf(say(request(command, create(""), { sessionId: 1n, treeId: 1 })))).toBe(0xc000_0203);
  const { say: sayAs, ids } = enter();
  expect(statusOf(sayAs(request(5, create(""), { ...ids, sessionId: ids.sessionId + 1n })))).toBe(0xc000_0203);
  expect(statusOf(sayAs(request(5, create(""), { ...ids, treeId: 77 })))).toBe(0xc000_00c9);
});

const ECHO = request(13, pack([2, 4], [2, 0]));
/** Eight messages in one frame. */
function chainOfEchos(): Buffer {
  const message = Buffer.concat([ECHO.subarray(4), Buffer.alloc(4)]);
  message.writeUInt32LE(message.length, 20);
  const last = ECHO.subarray(4);
  const all = Buffer.concat([...Array.from({ length: 7 }, () => message), last]);
  return Buffer.concat([Buffer.from([0, 0, all.length >>> 8, all.length & 0xff]), all]);
}
/** Answers in frames, how many there are. */
const countFrames = (answers: Buffer) => answers.toString("latin1").split("\u00feSMB").length - 1;

test.each([["in a frame of its own", ECHO, 128], ["with others in its frame", chainOfEchos(), 16]])("of what comes at once 128 requests are answered, each %s, and who sends more is ended", (_, frame, most) => {
  const client = connectGuest();
  expect([countFrames(client.say(Buffer.concat(Array.from({ length: most }, () => frame)))), client.isOver()]).toEqual([128, false]);
  expect([countFrames(client.say(Buffer.concat(Array.from({ length: 900 }, () => frame)))), client.isOver()]).toEqual([128, true]);
  expect(client.say(frame).length).toBe(0);
});

test("of who was ended nothing more is read", () => {
  const client = connectGuest();
  client.stream.destroy();
  expect(countFrames(client.say(Buffer.concat([ECHO, ECHO, ECHO])))).toBe(1);
});

test("hostile messages end nothing but their own connection: each is answered within bounds, and none throws", () => {
  const bind = Buffer.from("05000b03100000007400000001000000b810b810000000000200000000000100c84f324b7016d30112785a47bf6ee18803000000045d888aeb1cc9119fe808002b10486002000000", "hex");
  const ioctl = (id: bigint, pdu: Buffer) => Buffer.concat([pack([2, 57], [2, 0], [4, 0x0011_c017]), encodeId(id), pack([4, 120], [4, pdu.length], [4, 0], [4, 0], [4, 0], [4, 1024], [4, 1], [4, 0]), pdu]);
  const valid: readonly (readonly [number, Buffer])[] = [
    [0, Buffer.concat([pack([2, 36], [2, 1], [2, 1], [2, 0], [4, 0]), Buffer.alloc(24), pack([2, 0x0311])])], [1, withToken(ntlm(3, 80))], [3, named(pack([2, 9], [2, 0], [2, 72], [2, SHARE.length * 2]), SHARE)],
    [5, create("accounts-v2.csv")], [6, Buffer.concat([pack([2, 24], [2, 1], [4, 0]), encodeId(1n)])], [8, read(1n, 65_536)], [9, Buffer.concat([pack([2, 49], [2, 112], [4, 4], [8, 0]), encodeId(2n), Buffer.alloc(20)])],
    [11, ioctl(2n, bind)], [14, list(1n, 37)], [16, info(1n, 1, 18)],
  ];
  let answered = 0;
  for (const [index, [command, body]] of valid.entries()) {
    for (const damaged of seededMutations(Uint8Array.from(request(command, body).subarray(4)), 600, index + 1)) {
      const client = enter();
      client.ask(5, create(""));
      client.ask(5, create("srvsvc"), client.ids.pipes);
      const message = Buffer.from(damaged);
      // Within the session, so that they are read further.
      if (message.length >= 40) message.writeUInt32LE(command === 11 || command === 9 ? client.ids.pipes : client.ids.treeId, 36);
      if (message.length >= 48) message.writeBigUInt64LE(client.ids.sessionId, 40);
      const answer = client.say(Buffer.concat([Buffer.from([0, 0, message.length >>> 8, message.length & 0xff]), message]));
      expect(answer.length).toBeLessThan(40_000);
      answered += answer.length > 0 ? 1 : 0;
    }
  }
  expect(answered).toBeGreaterThan(3000);
});

test("who speaks the old protocol alone is answered as Samba 4.17 answers, and as Windows: not at all", () => {
  const dialects = Buffer.from("\u0002LANMAN1.0\0\u0002NT LM 0.12\0", "latin1");
  const head = (flags: readonly number[]) => Buffer.from([0xff, 0x53, 0x4d, 0x42, 0x72, 0, 0, 0, 0, ...flags, ...Buffer.alloc(14), 0x40, 6, 0, 0, 1, 0]);
  const asked = (flags: readonly number[]) => {
    const message = Buffer.concat([head(flags), Buffer.from([0, dialects.length, 0]), dialects]);
    return Buffer.concat([Buffer.from([0, 0, 0, message.length]), message]);
  };
  for (const [flags, answered] of [[[8, 1, 0], [0x88, 3, 0x40]], [[0x18, 0x53, 0xc8], [0x88, 0x13, 0xc0]]] as const) {
    const { say, isOver } = connectGuest();
    expect(say(asked(flags))).toEqual(Buffer.concat([head(answered), Buffer.from([1, 0xff, 0xff, 0, 0])]));
    expect(isOver()).toBe(true);
  }
  const { say, isOver } = connectGuest(PERSONAS.windows);
  expect([say(asked([8, 1, 0])).length, isOver()]).toEqual([0, true]);
});
