import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { expect, onTestFinished, test } from "vitest";
import { singleKey } from "../../../sealing/keyring.ts";
import { createSealing } from "../../../sealing/sealing.ts";
import { createDirectoryStore } from "./capture-store.ts";
import { createSealedFiles } from "./sealed-files.ts";

test("of two collectors that store one file in one folder, the one whose key is kept decides what is there", async () => {
  const home = mkdtempSync(join(tmpdir(), "lanthorn-captures-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const sealing = createSealing(singleKey(randomBytes(32)));
  const [one, other] = [0, 1].map(() => createSealedFiles({ store: createDirectoryStore(home), sealing }));
  if (!one || !other) throw new Error("there are two");
  const content = { id: createId(), size: 200_000 };
  const bytes = randomBytes(content.size);
  const source = async function* source() {
    yield await Promise.resolve(bytes);
  };
  const [first, second] = [await one.put(content, source()), await other.put(content, source())];
  expect(await one.open(content, first.keySealed, { from: 0, to: content.size })).toBeNull();
  await first.draft.keep();
  await second.draft.discard();
  await first.draft.discard();
  const read = await other.open(content, first.keySealed, { from: 0, to: content.size });
  const pieces: Uint8Array[] = [];
  if (read) for await (const piece of read) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  expect(readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([content.id]);
});
