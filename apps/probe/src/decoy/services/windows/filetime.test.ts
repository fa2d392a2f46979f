import { expect, test } from "vitest";
import { encodeFiletime } from "./filetime.ts";

test.each([[0, "00803ed5deb19d01"], [946_684_800_000.9, "00406d25eb53bf01"], [-11_644_473_600_000, "0000000000000000"]])("%f milliseconds since 1970 are %s", (atMs, hex) => {
  expect(encodeFiletime(atMs).toString("hex")).toBe(hex);
});
