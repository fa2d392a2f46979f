import type { RestClient } from "@lanthorn/client";
import { describe, expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { changeAlerts, changeDevices } from "./bulk.ts";

const connect = (rest: Partial<Record<keyof RestClient, (...asked: readonly unknown[]) => unknown>>) => ({ rest }) as unknown as Connection;
const NOW = Date.UTC(2026, 10, 20, 8);
const counted = () => Promise.resolve({ data: [], meta: { total: 214 } });

describe("a change of all that a filter leaves", () => {
  test("says how many they are, and changes nothing, until their number is given", async () => {
    const answer = await changeDevices(connect({ listDevices: counted }), { filter: "type:printer", addTag: ["lab"] });
    expect(formatAnswer(answer, false)).toBe("214 devices match; nothing was changed. Change them with: --expect 214");
    expect((await changeAlerts(connect({ listAlerts: counted }), { status: "resolved", filter: "status:open" }, NOW)).json).toEqual({ count: 214 });
  });

  test("sends the filter, the number and the change, and says what came of it", async () => {
    const asked: unknown[] = [];
    const result = { matched: 214, changed: 210, unchanged: 3, gone: 1 };
    const rest = connect({ changeDevices: (body) => (asked.push(body), Promise.resolve(result)), changeAlerts: (body) => (asked.push(body), Promise.resolve(result)) });
    const answer = await changeDevices(rest, { filter: "type:printer", expect: 214, addTag: ["lab"], type: "printer" });
    expect(formatAnswer(answer, false)).toBe("changed 210 of 214; 3 were so already or cannot be so; 1 are gone");
    await changeAlerts(rest, { status: "acknowledged", note: "TICKET-7", filter: "", expect: 214 }, NOW);
    await changeAlerts(rest, { mute: "8h", filter: "source:ids", expect: 214 }, NOW);
    expect(asked).toEqual([
      { filter: "type:printer", expected_count: 214, change: { add_tags: ["lab"], device_type: "printer" } },
      { filter: "", expected_count: 214, change: { status: "acknowledged", note: "TICKET-7" } },
      { filter: "source:ids", expected_count: 214, change: { muted_until: "2026-11-20T16:00:00.000Z", note: "" } },
    ]);
  });

  test("is refused where it is none", async () => {
    for (const options of [{}, { type: "toaster" }, { delete: true, vendor: "x" }]) {
      await expect(changeDevices(connect({}), { filter: "", ...options })).rejects.toMatchObject({ code: "bad-option" });
    }
    for (const options of [{}, { status: "resolved" as const, mute: "8h" }, { mute: "soon" }, { status: "resolved" as const, note: "a\u001B" }]) {
      await expect(changeAlerts(connect({}), { filter: "", ...options }, NOW)).rejects.toMatchObject({ code: "bad-option" });
    }
  });
});
