import { randomBytes } from "node:crypto";
import { assert, asyncProperty, boolean, property, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { createFileKey, decryptAge, encryptAge } from "./age.ts";
import { generateIdentity, parseIdentities, parseRecipient } from "./age-keys.ts";
import { decodeBech32, encodeBech32 } from "./bech32.ts";
import { chunksOf, collect } from "./testing/sample.ts";

const PIECE = 65_536;
const SEALED_PIECE = PIECE + 16;

function newPair() {
  const { recipient, identity } = generateIdentity();
  const key = parseRecipient(recipient);
  if (!key) throw new Error("no key");
  return { key, identities: parseIdentities(identity) };
}

const pair = newPair();
const seal = (plain: Uint8Array, recipients = [pair.key]) => collect(encryptAge(chunksOf(plain), createFileKey(), recipients));
const open = (sealed: Uint8Array, identities = pair.identities) => collect(decryptAge(chunksOf(sealed), { identities }));
/** Where the pieces begin: behind the head and 16 bytes. */
const payloadOf = (sealed: Buffer) => sealed.indexOf("\n--- ") + 5 + 43 + 1 + 16;

describe("a sealed file", () => {
  test.each([0, 1, 1000, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 5])("of %i bytes opens with its key", async (size) => {
    const plain = randomBytes(size);
    const sealed = await seal(plain);
    expect((await open(sealed)).equals(plain)).toBe(true);
    expect(size >= 16 && sealed.includes(plain.subarray(0, 16))).toBe(false);
  });

  test("opens however it is cut into chunks", async () => {
    const plain = randomBytes(2 * PIECE + 7);
    const sealed = await seal(plain);
    for (const size of [1000, PIECE, SEALED_PIECE + 1]) {
      const chunks = Array.from(
        { length: Math.ceil(sealed.length / size) }, (_, index) => sealed.subarray(index * size, (index + 1) * size),
      );
      expect((await collect(decryptAge(chunksOf(...chunks), { identities: pair.identities }))).equals(plain)).toBe(true);
    }
  });

  test("opens for each of its recipients and for nobody else", async () => {
    const [second, stranger] = [newPair(), newPair()];
    const sealed = await seal(Buffer.from("words"), [pair.key, second.key]);
    expect((await open(sealed)).toString()).toBe("words");
    expect((await open(sealed, second.identities)).toString()).toBe("words");
    await expect(open(sealed, stranger.identities)).rejects.toMatchObject({ code: "backup-key-unusable" });
  });

  test("is refused when it is cut off anywhere, also between two pieces", async () => {
    const sealed = await seal(randomBytes(2 * PIECE + 100));
    const start = payloadOf(sealed);
    const ends = [
      0, 1, 20, start - 17, start - 1, start, start + 1, start + 15, start + SEALED_PIECE, start + 2 * SEALED_PIECE, sealed.length - 1,
    ];
    for (const end of ends) await expect(open(sealed.subarray(0, end)), `${end}`).rejects.toMatchObject({ code: "backup-unreadable" });
  });

  test("is refused when pieces change places, come twice or are left out", async () => {
    const sealed = await seal(randomBytes(3 * PIECE));
    const start = payloadOf(sealed);
    const [head, ...pieces] = [
      sealed.subarray(0, start), ...[0, 1, 2].map((at) => sealed.subarray(start + at * SEALED_PIECE, start + (at + 1) * SEALED_PIECE)),
    ];
    const orders = [[1, 0, 2], [0, 2, 1], [0, 0, 1, 2], [0, 2], [1, 2], [2], [0, 1, 2, 2]];
    for (const order of orders) {
      const changed = Buffer.concat([head, ...order.map((at) => pieces[at] ?? Buffer.alloc(0))]);
      await expect(open(changed), order.join(" ")).rejects.toMatchObject({ code: "backup-unreadable" });
    }
    await expect(open(Buffer.concat([sealed, Buffer.alloc(1)]))).rejects.toMatchObject({ code: "backup-unreadable" });
    await expect(open(Buffer.concat([sealed, Buffer.alloc(16)]))).rejects.toMatchObject({ code: "backup-unreadable" });
  });

  test("is refused for any bit that is flipped", async () => {
    const plain = randomBytes(200);
    const sealed = await seal(plain);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const answer = await open(changed).catch((error: unknown) => error);
      if (Buffer.isBuffer(answer)) throw new Error(`bit ${bit} does not count`);
      expect(["backup-unreadable", "backup-key-unusable"]).toContain((answer as { readonly code?: string }).code);
    }
  });

  test("that is anything at all is refused in words, and neither hangs nor throws anything else", async () => {
    const head = "age-encryption.org/v1\n-> X25519 ";
    await assert(asyncProperty(boolean(), uint8Array({ maxLength: 3000 }), async (isHeaded, bytes) => {
      const answer = await open(isHeaded ? Buffer.concat([Buffer.from(head), bytes]) : bytes).catch((error: unknown) => error);
      return !Buffer.isBuffer(answer) && ["backup-unreadable", "backup-key-unusable"].includes((answer as { readonly code: string }).code);
    }), { numRuns: 500, seed: 1 });
  });

  test("of endless lines holds no more than a head", async () => {
    const endless = async function* endless() {
      yield Buffer.from("age-encryption.org/v1\n");
      for (;;) yield Buffer.from("-> X25519 AAAA\nAAAA\n".repeat(100));
    };
    await expect(collect(decryptAge(endless(), { identities: pair.identities }))).rejects.toMatchObject({ code: "backup-unreadable" });
  });
});

describe("a key", () => {
  test("is spelled as age spells it, and read back", () => {
    const { recipient, identity } = generateIdentity();
    expect(recipient).toMatch(/^age1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{58}$/);
    expect(identity).toMatch(/^AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}$/);
    expect(Buffer.from(parseIdentities(
      `# made today\n\n${identity}\n`,
    )[0]?.publicBytes ?? []).equals(Buffer.from(parseRecipient(recipient)?.publicBytes ?? [])))
      .toBe(true);
  });

  test("with a letter mistyped is none", () => {
    const { recipient, identity } = generateIdentity();
    for (let at = 4; at < recipient.length; at += 1) {
      const letter = recipient[at] === "q" ? "p" : "q";
      expect(parseRecipient(`${recipient.slice(0, at)}${letter}${recipient.slice(at + 1)}`)).toBeNull();
    }
    for (const text of ["", "age1", identity, recipient.toUpperCase().replace("A", "a"), `${recipient}q`]) {
      expect(parseRecipient(text)).toBeNull();
    }
    for (const text of ["", "# nothing", recipient, identity.slice(0, -1)]) {
      expect(() => parseIdentities(text)).toThrow(expect.objectContaining({ code: "backup-key-unusable" }) as Error);
    }
  });

  // The valid strings of BIP-0173.
  test("'s spelling is Bech32", () => {
    expect(decodeBech32("a", "A12UEL5L")).toEqual(new Uint8Array());
    expect(encodeBech32("a", new Uint8Array())).toBe("a12uel5l");
    const text = "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw";
    expect(encodeBech32("abcdef", decodeBech32("abcdef", text) ?? new Uint8Array())).toBe(text);
    expect(decodeBech32("abcdef", "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxx")).toBeNull();
    assert(property(
      uint8Array({ maxLength: 60 }), (bytes) => Buffer.from(decodeBech32("x", encodeBech32("x", bytes)) ?? []).equals(Buffer.from(bytes)),
    ));
  });
});
