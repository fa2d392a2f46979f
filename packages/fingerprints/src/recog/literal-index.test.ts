import { describe, expect, test } from "vitest";
import { createLiteralIndex } from "./literal-index.ts";

describe("the index of literals", () => {
  const index = createLiteralIndex([["openssh"], ["open", "nginx"], [], ["ab"], ["ssh_"]]);
  const candidates = (text: string) => index.candidates(text, { left: 100 });

  test("names the patterns that a text may match, in their order, whatever its case", () => {
    expect(candidates("SSH-2.0-OpenSSH_9")).toEqual([0, 1, 2, 3, 4]);
    expect(candidates("NGINX")).toEqual([1, 2, 3]);
    expect(candidates("open")).toEqual([1, 2, 3]);
    expect(candidates("")).toEqual([2, 3]);
  });
});
