import { expect, test } from "vitest";
import { createRequestReader } from "./http.ts";

test("however many requests come together, each is answered after the one before it", () => {
  let answered = 0;
  const read = createRequestReader((_, next) => {
    answered += 1;
    next();
  }, () => expect.fail("none of them is bad"));
  read(Buffer.from("GET / HTTP/1.1\r\n\r\n".repeat(20_000)));
  expect(answered).toBe(20_000);
});
