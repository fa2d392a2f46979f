import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { IdsTestResult } from "@lanthorn/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { testRule } from "./ids-test.ts";

const MATCH: IdsTestResult["shown"][number] = {
  frame: 4, at: "2026-01-01T00:00:00.000Z", direction: "to-server", source: { ip: "192.0.2.1", port: 40_000 }, destination: { ip: "2001:db8::9", port: 80 }, protocol: 6, application: "http",
  buffers: [{ buffer: "http.uri", offset: 0, length: 5, bytes: Buffer.from("/ga\u001B[").toString("base64") }],
};
const MISSED: NonNullable<IdsTestResult["missed"]> = { kind: "content", text: 'content:"/gate"', buffer: "http.uri", matches_without: null, candidate: MATCH };
const RESULT: IdsTestResult = {
  matched: false, matches: 0, alerts: 0, shown: [], refusal: null, rule: "", beside: ["1:7"], beside_refused: [], unset_bits: ["a"], frames: 10, problem: "it is cut off at byte 9", gave_up: false,
  missed: MISSED,
  parts: [{ kind: "protocol", text: "http", buffer: "", matches: 3 }, { kind: "content", text: 'content:"/gate"', buffer: "http.uri", matches: 0 }],
};
const INPUT = { readAll: () => Promise.resolve("alert … (sid:1;)") };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-ids-test-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function connect(result: Partial<IdsTestResult> = {}) {
  const wishes: { readonly capture?: string }[] = [];
  return { wishes, connection: { rest: { testIdsRule: (wish: object) => Promise.resolve((wishes.push(wish), { ...RESULT, ...result })) } } as unknown as Connection };
}

test("the part that does not match is marked, with the nearest place", async () => {
  writeFileSync(join(folder, "a.pcap"), "packets");
  const { wishes, connection } = connect();
  const answer = await testRule(connection, join(folder, "a.pcap"), { rule: "-" }, INPUT);
  expect(wishes).toMatchObject([{ rule: "alert … (sid:1;)" }]);
  expect(gunzipSync(Buffer.from(wishes[0]?.capture ?? "", "base64")).toString()).toBe("packets");
  expect(formatAnswer(answer, false).split("\n")).toEqual([
    "PART      BUFFER    MATCHES   RULE ASKS FOR", "protocol  -         3         http", "content   http.uri  0 <- not  content:\"/gate\"", "",
    "It does not match: content in http.uri: content:\"/gate\".",
    'Nearest: frame 4, 2026-01-01T00:00:00.000Z, 192.0.2.1:40000 -> [2001:db8::9]:80, to-server, http: http.uri 0-5 "/ga.["', "With rules that set its bits: 1:7", "No rule here sets: a",
    "10 frames were read; it is cut off at byte 9.",
  ]);
});

test.each([
  ["matches", { matched: true, matches: 3, alerts: 1, missed: null, shown: [MATCH] }, "It matches 3 times, and gives 1 alerts."],
  ["is refused", { refusal: { generator_id: 1, signature_id: 1, keyword: "lua", reason: "scripts are not run" }, parts: [], missed: null }, "It cannot be run: lua: scripts are not run."],
  ["stays below its threshold", { matches: 2, missed: { ...MISSED, kind: "threshold", text: "threshold:type limit" } }, "It matches 2 times and gives no alert: threshold:type limit."],
  ["would match without a part", { missed: { ...MISSED, kind: "flow", text: "flow:to_client", buffer: "", matches_without: true } }, "It does not match: flow: flow:to_client. Without this part it would match."],
] as const)("it is said that a rule %s", async (_, result, line) => {
  const { connection } = connect(result as Partial<IdsTestResult>);
  expect(formatAnswer(await testRule(connection, undefined, { sid: "3:7", pcap: "x" }, INPUT), false)).toContain(line);
});

test("what cannot be sent is refused before anything is", async () => {
  const { connection, wishes } = connect();
  const tried = (file: string | undefined, options: object) => testRule(connection, file, options, INPUT);
  for (const [file, options] of [[undefined, { sid: "1" }], ["a", {}], ["a", { sid: "1", rule: "b" }], ["a", { sid: "1", pcap: "x" }], ["a", { sid: "x", pcap: undefined }]] as const) {
    await expect(tried(file, options)).rejects.toMatchObject({ code: "bad-option" });
  }
  await expect(tried(join(folder, "none"), { sid: "1" })).rejects.toMatchObject({ code: "file" });
  writeFileSync(join(folder, "large"), Buffer.from(Array.from({ length: 900_000 }, () => Math.trunc(Math.random() * 256))));
  await expect(tried(join(folder, "large"), { sid: "1" })).rejects.toMatchObject({ code: "file" });
  expect(wishes).toEqual([]);
});
