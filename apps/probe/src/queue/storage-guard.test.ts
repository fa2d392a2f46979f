import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { SqliteError } from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { createStorageGuard } from "./storage-guard.ts";

const fail = (code: string) => () => {
  throw new SqliteError("disk", code);
};

describe("the guard of the storage", () => {
  const open = () => {
    const clock = createFakeClock();
    const calls: string[] = [];
    const guard = createStorageGuard({
      clock, log: silentLog, onRetry: () => void calls.push("retry"), onCorrupt: () => void calls.push("corrupt"),
    });
    return { clock, calls, guard };
  };

  test("has what waits tried again after a fault, once for many, and is writable when a write succeeded", async () => {
    const { clock, calls, guard } = open();
    expect(guard.attempt(() => 7)).toEqual({ value: 7 });
    expect([guard.attempt(fail("SQLITE_FULL")), guard.attempt(fail("SQLITE_IOERR_WRITE")), guard.isWritable]).toEqual([null, null, false]);
    await clock.advance(1000);
    expect(calls).toEqual(["retry"]);
    guard.recovered();
    expect(guard.isWritable).toBe(true);
  });

  test("touches a corrupt file no more", () => {
    const { calls, guard } = open();
    guard.attempt(fail("SQLITE_CORRUPT"));
    let hasRun = false;
    expect(guard.attempt(() => void (hasRun = true))).toBeNull();
    expect({ hasRun, calls, isCorrupt: guard.isCorrupt }).toEqual({ hasRun: false, calls: ["corrupt"], isCorrupt: true });
  });

  test("passes on what is a fault of the program, and tries nothing again after its close", async () => {
    const { clock, calls, guard } = open();
    expect(() => guard.attempt(fail("SQLITE_CONSTRAINT"))).toThrow(SqliteError);
    guard.attempt(fail("SQLITE_FULL"));
    guard.close();
    await clock.advance(5000);
    expect(calls).toEqual([]);
  });
});
