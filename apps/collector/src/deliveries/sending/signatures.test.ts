import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { signatureHeaders } from "./signatures.ts";

describe("a payload's signatures", () => {
  test("are those of RFC 4231's vectors for HMAC-SHA-256", () => {
    const headers = signatureHeaders(
      { id: "x", timestampSeconds: 0, body: Buffer.from("what do ya want for nothing?") }, { secret: "Jefe", previous: null },
    );
    expect(headers["x-service-signature"]).toBe("sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  });

  test("are of the raw bytes, whatever is in them", () => {
    const body = Buffer.from([0, 255, 10, 13, 0xc3, 0x28]);
    const headers = signatureHeaders({ id: "x", timestampSeconds: 0, body }, { secret: "ключ", previous: null });
    expect(headers["x-service-signature"]).toBe(`sha256=${createHmac("sha256", Buffer.from("ключ", "utf8")).update(body).digest("hex")}`);
  });

  // The example of the Standard Webhooks specification's own libraries.
  test("are those of Standard Webhooks, with the key that the secret encodes", () => {
    const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampSeconds: 1_614_265_330, body: Buffer.from('{"test": 2432232314}') };
    const headers = signatureHeaders(message, { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", previous: null });
    expect(headers).toMatchObject({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
    expect(headers).not.toHaveProperty("x-service-signature-previous");
  });

  test("are made with the text itself where a secret is no encoded key", () => {
    const message = { id: "1", timestampSeconds: 2, body: Buffer.from("{}") };
    const expected = (key: Buffer) => `v1,${createHmac("sha256", key).update("1.2.{}").digest("base64")}`;
    for (const secret of ["my own words", "whsec_no base64!", "whsec_abcde"]) {
      expect(signatureHeaders(message, { secret, previous: null })["webhook-signature"]).toBe(expected(Buffer.from(secret)));
    }
    expect(signatureHeaders(message, { secret: "whsec_YWI=", previous: null })["webhook-signature"]).toBe(expected(Buffer.from("ab")));
  });

  test("are of both secrets while they rotate", () => {
    const message = { id: "1", timestampSeconds: 2, body: Buffer.from("{}") };
    const [now, before] = [
      signatureHeaders(message, { secret: "new secret", previous: null }),
      signatureHeaders(message, { secret: "old secret", previous: null }),
    ];
    expect(signatureHeaders(message, { secret: "new secret", previous: "old secret" })).toEqual({
      ...now, "x-service-signature-previous": before["x-service-signature"],
      "webhook-signature": `${now["webhook-signature"]} ${before["webhook-signature"]}`,
    });
  });
});
