import { settleFakeClocks } from "@lanthorn/runtime";
import { Client, Pool } from "pg";
import { afterAll, inject } from "vitest";
import { dropTestDatabases, SERVER_VARIABLE } from "./database.ts";

// Before each test file of the project `postgres`.
process.env[SERVER_VARIABLE] = inject(SERVER_VARIABLE);
afterAll(dropTestDatabases);

/**
 * SQLite answers before a fake clock goes on; so that tests need not know on which database they run, it waits for PostgreSQL's
 * answers.
 */
let underWay = 0;
settleFakeClocks(() => underWay > 0);
for (const [of, name] of [[Client.prototype, "query"], [Pool.prototype, "connect"]] as const) {
  const methods = of as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  const real = methods[name] as (...args: readonly unknown[]) => unknown;
  methods[name] = function counted(...args) {
    const answer = Reflect.apply(real, this, args);
    if (answer instanceof Promise) {
      underWay += 1;
      const end = () => void (underWay -= 1);
      answer.then(end, end);
    }
    return answer;
  };
}
