import { expect, test } from "vitest";
import { createFailureLog } from "./failure-log.ts";

test("of one service's failures one is logged each minute, with how many there were", () => {
  const logged: object[] = [];
  let now = 0;
  const logFailure = createFailureLog({ error: (fields: object) => void logged.push(fields) }, { monotonic: () => now });
  for (; now < 61_000; now += 10) logFailure(new Error("no"), "sip");
  logFailure(new Error("no"), "ftp");
  expect(logged).toMatchObject([{ service: "sip", failures: 1 }, { service: "sip", failures: 6001 }, { service: "ftp", failures: 1 }]);
});
