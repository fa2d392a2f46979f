import { expect, test } from "vitest";
import { md4 } from "./md4.ts";

/** @see RFC 1320 appendix A.5, and MS-NLMP section 4.2.2.1.2 for the password's. */
test("MD4 of the known texts, of one block and of more", () => {
  expect(md4(Buffer.from("")).toString("hex")).toBe("31d6cfe0d16ae931b73c59d7e0c089c0");
  expect(md4(Buffer.from("message digest")).toString("hex")).toBe("d9130a8164549fe818874806e1c7014b");
  expect(md4(Buffer.from("12345678901234567890123456789012345678901234567890123456789012345678901234567890")).toString("hex")).toBe("e33b4ddc9c38f2199c3e7b164fcc0536");
  expect(md4(Buffer.from("Password", "utf16le")).toString("hex")).toBe("a4f49c406510bdcab6824ee7c30fd852");
});
