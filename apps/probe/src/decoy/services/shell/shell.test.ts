import { expect, test } from "vitest";
import { createTranscript } from "../../evidence/transcript.ts";
import { PERSONAS } from "../../personas/table.ts";
import { createShell } from "./shell.ts";

/** A shell, what it sent, and what was reported of it. */
function openShell() {
  const [sent, reported] = [[] as string[], [] as string[]];
  let exits = 0;
  const shell = createShell({
    username: "backup", transcript: createTranscript(0, () => 0, { columns: 80, rows: 24 }), send: (text) => void sent.push(text), onExit: () => void (exits += 1),
    stage: { hostname: "files2", persona: PERSONAS.linux, ssh: null, files: { begin: () => null }, documents: [], startedMs: 0, derive: (_, octets) => Buffer.alloc(octets) },
    peer: { address: "127.0.0.5", gave: () => undefined, took: () => undefined, reached: (_, __, detail) => void reported.push(detail) },
  });
  return { shell, sent, reported, exits: () => exits };
}

test("what was typed at once is answered at once; after 300 lines, empty ones too, nothing is said", () => {
  const { shell, sent, exits } = openShell();
  shell.type(Buffer.from("\r".repeat(30_000)));
  expect(sent.map((text) => text.split("$ ").length - 1)).toEqual([300]);
  shell.type(Buffer.from("id\r\u0003"));
  expect([sent.length, exits()]).toEqual([1, 0]);
  shell.type(Buffer.from("exit\r"));
  expect(exits()).toBe(1);
});

test("whoever asks for more at once than anybody reads has left", () => {
  const { shell, sent, exits } = openShell();
  shell.type(Buffer.from(`cat ${"/etc/passwd ".repeat(40)}\r`.repeat(60)));
  shell.type(Buffer.from("id\r"));
  expect([sent.length, exits(), (sent[0]?.length ?? 0) < 200_000]).toEqual([1, 1, true]);
});

test("a command without a terminal is as long as a line", () => {
  const { shell, reported } = openShell();
  expect(shell.execute(`echo ${"x".repeat(5000)}`)).toBe(`${"x".repeat(1019)}\n`);
  expect(reported.map((detail) => detail.length)).toEqual([1024]);
});
