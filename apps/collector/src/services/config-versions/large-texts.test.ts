import { ConfigVersion } from "@lanthorn/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HANG_MS, watchWork } from "../../testing/loop.ts";
import { type ConfigVersionsStack, startConfigVersions } from "./testing/stack.ts";

let stack: ConfigVersionsStack;
let upload: ConfigVersionsStack["upload"];
let diff: ConfigVersionsStack["diff"];
beforeEach(async () => {
  stack = await startConfigVersions();
  ({ upload, diff } = stack);
});
afterEach(() => stack.gateway.stop());

describe("a difference", () => {
  test("of two large texts with nothing in common shows one removed and the other added, and other requests are served meanwhile", async () => {
    const text = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index * 7919 % 20_000}`).join("\n");
    await upload(text("one"));
    const { result, worstMs } = await watchWork(() => upload(text("two")));
    expect(ConfigVersion.parse(result.body)).toMatchObject({ lines_added: 20_000, lines_removed: 20_000 });
    expect(worstMs).toBeLessThan(HANG_MS);
  });

  test("that is slow to find, asked for by many at once, is found once, and leaves others served", async () => {
    const text = (every: number) => Array.from({ length: 40_000 }, (_, at) => `l ${at * 7919 % 40_000}${at % every === 0 ? "x" : ""}`).join("\n");
    await upload(text(40_001));
    await upload(text(11));
    const { result, worstMs } = await watchWork(async () => {
      const first = diff();
      const rest = await Promise.all(Array.from({ length: 10 }, () => diff()));
      return [await first, ...rest];
    });
    expect(new Set(result.map((one) => one.diff)).size).toBe(1);
    expect(worstMs).toBeLessThan(HANG_MS);
  });
});

describe("hostile texts", () => {
  test.each([
    ["line ends with something after them", `${"\n".repeat(524_000)}x`], ["blanks", `password${" ".repeat(524_000)}`],
    ["keys", "key 1 ".repeat(87_000)], ["carriage returns", "\r".repeat(524_000)], ["begins of blocks", "-----BEGIN A".repeat(43_000)],
  ])("of %s are kept, shown and compared without stopping anything", async (_, text) => {
    const { worstMs } = await watchWork(async () => {
      const { id } = ConfigVersion.parse((await upload(text)).body);
      expect((await stack.gateway.call("GET", stack.path(`/versions/${id}`), stack.tenant.token)).status).toBe(200);
      await upload(`${text} `.slice(-524_288));
    });
    expect(worstMs).toBeLessThan(HANG_MS);
  });
});
