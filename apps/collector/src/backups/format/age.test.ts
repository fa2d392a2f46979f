import { randomBytes } from "node:crypto";
import { assert, asyncProperty, boolean, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { createSeal, decryptAge, type Opener } from "./age.ts";
import { type AgeRecipients, generateIdentity, isRecipient, parseIdentities, parsePassphrase } from "./age-keys.ts";
import { chunksOf, collect } from "../testing/sample.ts";

const PIECE = 65_536;
const SEALED_PIECE = PIECE + 16;

async function newPair() {
  const { recipient, identity } = await generateIdentity();
  return { key: recipient, identities: parseIdentities(identity) };
}

const pair = await newPair();
const seal = (plain: Uint8Array, recipients: AgeRecipients = [pair.key]) => collect(createSeal(recipients).encrypt(chunksOf(plain)));
const open = (sealed: Uint8Array, opener: Opener = pair) => collect(decryptAge(chunksOf(sealed), opener));
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
      expect((await collect(decryptAge(chunksOf(...chunks), pair))).equals(plain)).toBe(true);
    }
  });

  test("opens for each of its recipients and for nobody else", async () => {
    const [second, stranger] = [await newPair(), await newPair()];
    const sealed = await seal(Buffer.from("words"), [pair.key, second.key]);
    expect((await open(sealed)).toString()).toBe("words");
    expect((await open(sealed, second)).toString()).toBe("words");
    await expect(open(sealed, stranger)).rejects.toMatchObject({ code: "backup-key-unusable" });
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
    const plain = randomBytes(20);
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
    await expect(collect(decryptAge(endless(), pair))).rejects.toMatchObject({ code: "backup-unreadable" });
  });
});

describe("a passphrase", () => {
  const words = { passphrase: "nine horses and a lantern" };

  test("opens what was sealed with it, and no key or other passphrase does", async () => {
    const plain = randomBytes(PIECE + 1);
    const sealed = await seal(plain, words);
    expect((await open(sealed, { identities: words })).equals(plain)).toBe(true);
    await expect(open(sealed)).rejects.toMatchObject({ code: "backup-key-unusable" });
    await expect(open(sealed, { identities: { passphrase: "ten horses" } })).rejects.toMatchObject({ code: "backup-key-unusable" });
  });

  test("is one line of at least ten characters", () => {
    expect(parsePassphrase("nine horses and a lantern\n")).toEqual(words);
    for (const text of ["", "\n", "lantern", "nine horses\nand a lantern\n"]) {
      expect(() => parsePassphrase(text)).toThrow(expect.objectContaining({ code: "backup-key-unusable" }) as Error);
    }
  });

  test("does not make a machine work for hours over a file that asks for it", async () => {
    const sealed = Buffer.from(`age-encryption.org/v1\n-> scrypt ${"A".repeat(22)} 30\n${"A".repeat(43)}\n--- ${"A".repeat(43)}\n`);
    await expect(open(sealed, { identities: words })).rejects.toMatchObject({ code: "backup-unreadable" });
  });
});

test("a file that an earlier version has sealed opens", async () => {
  const identities = parseIdentities("AGE-SECRET-KEY-1TZ03XXLVVAKAVNWDPQFCE7FR4HQ0RHML3NRMCEF0EPJGC2SATEKSRNAMRM");
  const sealed = Buffer.from(
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSAzMnRiZkppSXRqTnlSUWwrV1BKeWtNTnduUVMrekM2emlZSWxKVUVBdlRvCngyRm1oSmEwRlVIaWFrOG1ZdU9CWmtDcjBm"
    + "SWJzSFhVTUZETEJQa1ZXVHMKLS0tIDNwRFd5NWRaZkpjRTE1N2RERmNURFV1NlpxN1dTUFgxZEtCcnpqbGN3TDAK55K8dpsS6MkpPan7g4mI5xmnvKHA5q7SOLFGzRaGb72wwlH2"
    + "sIoCKmX8Mp/+94jpFYGSHPkds9egQQ==", "base64",
  );
  expect((await open(sealed, { identities })).toString()).toBe("made by an earlier version");
});

test("a file is opened without a private key by who has sealed it", async () => {
  const sealer = createSeal([pair.key]);
  expect(() => sealer.opener()).toThrow();
  const sealed = await collect(sealer.encrypt(chunksOf(Buffer.from("words"))));
  expect((await open(sealed, sealer.opener())).toString()).toBe("words");
  await expect(open(await seal(Buffer.from("other")), sealer.opener())).rejects.toMatchObject({ code: "backup-unreadable" });
});

test("what reading the file has thrown is not taken for the file's own fault", async () => {
  const fault = new Error("the disk is gone");
  const sealed = await seal(randomBytes(3 * PIECE));
  const failing = async function* failing() {
    yield sealed.subarray(0, 2 * PIECE);
    throw fault;
  };
  await expect(collect(decryptAge(failing(), pair))).rejects.toBe(fault);
});

test("a reader that stops in the middle closes what it read from", async () => {
  let isClosed = false;
  const sealed = await seal(randomBytes(20 * PIECE));
  const source = async function* source() {
    try {
      for (let at = 0; at < sealed.length; at += PIECE) yield sealed.subarray(at, at + PIECE);
    } finally {
      isClosed = true;
    }
  };
  for await (const _ of decryptAge(source(), pair)) break;
  await expect.poll(() => isClosed).toBe(true);
});

describe("a key", () => {
  test("is spelled as age spells it, and read back", async () => {
    const { recipient, identity } = await generateIdentity();
    expect(recipient).toMatch(/^age1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{58}$/);
    expect(identity).toMatch(/^AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}$/);
    expect(isRecipient(recipient)).toBe(true);
    expect(parseIdentities(`# made today\n\n${identity}\n`)).toEqual([identity]);
  });

  test("with a letter mistyped is none", async () => {
    const { recipient, identity } = await generateIdentity();
    for (let at = 4; at < recipient.length; at += 1) {
      const letter = recipient[at] === "q" ? "p" : "q";
      expect(isRecipient(`${recipient.slice(0, at)}${letter}${recipient.slice(at + 1)}`)).toBe(false);
    }
    for (const text of ["", "age1", identity, recipient.toUpperCase(), `${recipient}q`, "x".repeat(100_000)]) expect(isRecipient(text)).toBe(false);
    for (const text of ["", "# nothing", recipient, identity.slice(0, -1), identity.toLowerCase()]) {
      expect(() => parseIdentities(text)).toThrow(expect.objectContaining({ code: "backup-key-unusable" }) as Error);
    }
  });
});
