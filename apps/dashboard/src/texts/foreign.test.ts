import { expect, test } from "vitest";
import { breakLongWords, showForeign } from "./foreign.tsx";

test("marks that turn or hide letters are shown by their number", () => {
  expect(showForeign("inv\u202Eoice\u200B.exe\u0007")).toBe("inv⟨202E⟩oice⟨200B⟩.exe⟨0007⟩");
  expect(showForeign("SSH-2.0\r\nkey:\tx")).toBe("SSH-2.0 key: x");
  expect(showForeign("Büro-Drucker 打印机 🖨")).toBe("Büro-Drucker 打印机 🖨");
});

test("a name of ten kilobytes is cut", () => {
  expect(showForeign("a".repeat(10_240))).toBe(`${"a".repeat(200)}…`);
});

test("a line may break in a word that is longer than most names, and in no other", () => {
  expect(breakLongWords("reception printer 02:00:5e:10:00:66")).toEqual(["reception printer 02:00:5e:10:00:66"]);
  expect(breakLongWords(`a ${"w".repeat(26)} z`)).toEqual([`a ${"w".repeat(10)}`, "w".repeat(10), "wwwwww z"]);
  expect(breakLongWords("🖨".repeat(25)).join("")).toBe("🖨".repeat(25));
});
