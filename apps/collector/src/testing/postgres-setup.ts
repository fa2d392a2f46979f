import { settleFakeClocks } from "@lanthorn/runtime";
import { afterAll, inject } from "vitest";
import { dropTestDatabases, SERVER_VARIABLE } from "./database.ts";
import { areQueriesInFlight } from "./queries-in-flight.ts";

// Before each test file of the project `postgres`.
process.env[SERVER_VARIABLE] = inject(SERVER_VARIABLE);
afterAll(dropTestDatabases);

/**
 * SQLite answers before a fake clock goes on; so that tests need not know on which database they run, it waits for PostgreSQL's
 * answers.
 */
settleFakeClocks(areQueriesInFlight());
