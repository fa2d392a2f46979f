import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createPasswords } from "./passwords.ts";

const PASSWORD = "a password of nobody";

test("sixteen at once leave room for other work in Node's threads, and all are answered", async () => {
  const passwords = createPasswords();
  let done = 0;
  const all = Array.from({ length: 16 }, async () => {
    const text = await passwords.hash(PASSWORD);
    done += 1;
    return text;
  });
  await promisify(gunzip)(gzipSync("a batch of a probe"));
  // In four threads that all hash, one after the other, twelve would be done before it.
  expect(done).toBeLessThan(8);
  const hashes = await Promise.all(all);
  expect(await passwords.matches(hashes[0] ?? "", PASSWORD)).toBe(true);
  expect(await passwords.matches(hashes[15] ?? "", "another password")).toBe(false);
});

test("the seventeenth is asked to come again, and is taken when there is room", async () => {
  const passwords = createPasswords();
  const all = Array.from({ length: 16 }, () => passwords.hash(PASSWORD));
  await expect(passwords.hash(PASSWORD)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  await Promise.all(all);
  await expect(passwords.hash(PASSWORD)).resolves.toMatch(/^\$argon2id\$/);
});

test("one that fails gives its place back", async () => {
  const passwords = createPasswords();
  const failed = Array.from({ length: 8 }, () => passwords.matches("no hash", PASSWORD).catch(() => "failed"));
  expect(await Promise.all(failed)).toEqual(Array.from({ length: 8 }, () => "failed"));
  await expect(passwords.hash(PASSWORD)).resolves.toMatch(/^\$argon2id\$/);
});
