import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hpkeOpen, hpkePublicKey, hpkeSeal } from "./hpke.ts";

/** RFC 9180 appendix A.1.1. */
const VECTOR = {
  info: Buffer.from("4f6465206f6e2061204772656369616e2055726e", "hex").toString(), aad: "Count-0",
  skEm: Buffer.from("52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736", "hex"), enc: "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
  skRm: Buffer.from("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8", "hex"), pkRm: "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
  pt: Buffer.from("4265617574792069732074727574682c20747275746820626561757479", "hex"),
  ct: "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
} as const;

describe("hybrid public key encryption", () => {
  test("seals and opens the example of RFC 9180", () => {
    const { skEm, skRm, pkRm, enc, pt, ct } = VECTOR;
    expect(hpkePublicKey(skRm).toString("hex")).toBe(pkRm);
    expect(hpkeSeal(Buffer.from(pkRm, "hex"), pt, VECTOR, skEm)?.toString("hex")).toBe(enc + ct);
    expect(hpkeOpen(skRm, Buffer.from(enc + ct, "hex"), VECTOR)).toEqual(pt);
  });

  test("opens for the recipient and the context alone, and nothing that was cut or changed", () => {
    const [key, context] = [randomBytes(32), { info: "passwords", aad: "one" }];
    for (const message of [Buffer.alloc(0), Buffer.from("✓ geheim"), randomBytes(100_000)]) {
      const sealed = hpkeSeal(hpkePublicKey(key), message, context);
      if (sealed === null) throw new Error("not sealed");
      expect(hpkeOpen(key, sealed, context)).toEqual(message);
      expect(hpkeSeal(hpkePublicKey(key), message, context)).not.toEqual(sealed);
      expect([hpkeOpen(randomBytes(32), sealed, context), hpkeOpen(key, sealed, { ...context, aad: "two" }), hpkeOpen(key, sealed, { ...context, info: "" })]).toEqual([null, null, null]);
      for (let length = 0; length < Math.min(sealed.length, 100); length += 1) expect(hpkeOpen(key, sealed.subarray(0, length), context)).toBeNull();
      for (const at of [0, 31, 32, sealed.length - 17, sealed.length - 1]) {
        const changed = Buffer.from(sealed);
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
        expect(hpkeOpen(key, changed, context)).toBeNull();
      }
    }
  });

  test("seals nothing for what is no public key", () => {
    for (const wrong of [Buffer.alloc(32), Buffer.alloc(31, 9), Buffer.alloc(0)]) expect(hpkeSeal(wrong, Buffer.from("x"), { info: "", aad: "" })).toBeNull();
    expect(hpkeOpen(randomBytes(32), Buffer.alloc(64), { info: "", aad: "" })).toBeNull();
  });
});
